// Lists the purchases of a wallet, for clients that sign in with it (x402 extension sign-in-with-x) and cannot sign
// envelopes.

import type { Query } from '@svc/api/endpoint'
import type { LockerList } from '@svc/api/lockers'
import { listBought as declaration, type SignInRequired } from '@svc/api/x402'
import { Answer } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Callers, WalletCaller } from '../../../auth/callers.ts'
import { limitAnonymous } from '../../../auth/limits.ts'
import { type Context, unixNow } from '../../../context.ts'
import { listLockers } from '../../../lockers/list-lockers.ts'
import { readSignIn, SignInRefused, signInChallenge } from './sign-in.ts'

/** Sells nothing: without a valid sign-in, the answer is the text to sign. */
export async function listBought(
  context: Context,
  callers: Callers,
  query: Query<typeof declaration>,
  wire: WireRequest,
): Promise<LockerList | Answer<SignInRequired>> {
  await limitAnonymous(context, wire, null)
  const url = context.config.http.baseUrl + declaration.path
  const header = wire.headers['sign-in-with-x']
  if (header === undefined) return signInRequired(context, url, 'Sign in with the wallet that made the purchases.')
  try {
    return await listLockers(context, await signedIn(context, callers, wire, { url, header }), query)
  } catch (error) {
    if (error instanceof SignInRefused) return signInRequired(context, url, `${error.code}: ${error.message}`)
    throw error
  }
}

async function signedIn(
  context: Context,
  callers: Callers,
  wire: WireRequest,
  { url, header }: { url: string; header: string | string[] },
): Promise<WalletCaller> {
  const caller = await callers.ofText(wire, readSignIn(header, { url, now: unixNow(context) }))
  if (caller === 'not_signed')
    throw new SignInRefused('invalid_siwx_signature', 'the signature does not match the address and the text')
  if (caller === 'replayed') throw new SignInRefused('invalid_siwx_nonce', 'this sign-in was already used')
  return caller
}

function signInRequired(context: Context, url: string, error: string): Answer<SignInRequired> {
  const required: SignInRequired = {
    x402Version: 2,
    resource: { url, description: 'The lockers of a wallet', mimeType: 'application/json' },
    accepts: [],
    error,
    extensions: { 'sign-in-with-x': signInChallenge({ url, now: unixNow(context) }, context.randomBytes) },
  }
  const header = Buffer.from(JSON.stringify(required)).toString('base64')
  return new Answer(402, required, { 'payment-required': header })
}
