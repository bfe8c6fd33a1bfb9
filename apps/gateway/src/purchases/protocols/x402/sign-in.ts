// The extension sign-in-with-x: a wallet signs a text that names this gateway (CAIP-122) to list its purchases.

import { NETWORKS, type Network } from '@svc/api/networks'
import { SignIn, type SignInRequired } from '@svc/api/x402'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { sigAlgOf } from '@svc/protocol/keys'
import { MAX_CLOCK_LEAD_SECONDS } from '@svc/protocol/request-envelope'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { schemaCheck } from '@svc/service/http/validate'
import type { WalletText } from '../../../auth/callers.ts'

const STATEMENT = 'List the purchases of this wallet. This pays nothing and authorizes no payment.'
const LIFETIME_SECONDS = 300
const NONCE_BYTES = 16
const MAX_CHARACTERS = 4096

type Challenge = SignInRequired['extensions']['sign-in-with-x']

/** The address where wallets sign in. */
interface Resource {
  url: string
  /** Unix seconds. */
  now: number
}

export function signInChallenge({ url, now }: Resource, randomBytes: (length: number) => Uint8Array): Challenge {
  return {
    info: {
      domain: new URL(url).host,
      uri: url,
      statement: STATEMENT,
      version: '1',
      nonce: toHex(randomBytes(NONCE_BYTES)),
      issuedAt: isoMilliseconds(now),
      expirationTime: isoMilliseconds(now + LIFETIME_SECONDS),
    },
    supportedChains: NETWORKS.map(({ caip2, family }) => ({
      chainId: caip2,
      type: family === 'solana' ? 'ed25519' : 'eip191',
    })),
    schema: SIGN_IN_SCHEMA,
  }
}

const SIGN_IN_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
}

/** The reason why a sign-in is rejected, as an error code of the extension. */
export class SignInRefused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const objection = schemaCheck(SignIn)

/** Throws `SignInRefused`. The caller still has to check the signature and that the sign-in is new. */
export function readSignIn(header: string | string[], { url, now }: Resource): WalletText {
  const signIn = parsed(header)
  if (signIn.domain !== new URL(url).host)
    throw new SignInRefused('invalid_siwx_domain_mismatch', 'it was signed for another domain')
  if (signIn.uri !== url) throw new SignInRefused('invalid_siwx_uri_mismatch', 'it was signed for another address')
  const network = NETWORKS.find(({ caip2 }) => caip2 === signIn.chainId)
  if (network?.sigAlg !== sigAlgOf(signIn.address))
    throw new SignInRefused(
      'invalid_siwx_unsupported_chain',
      'the address belongs to no chain that this gateway supports',
    )
  const { iat, exp } = timesOf(signIn, now)
  const { address: wallet, nonce, signature } = signIn
  return { wallet, bytes: utf8(signedText(signIn, network)), signature, nonce, iat, exp }
}

function parsed(header: string | string[]): SignIn {
  if (typeof header !== 'string' || header.length > MAX_CHARACTERS) throw malformed('it is too long')
  try {
    const signIn = parseStrictJson(Buffer.from(header, 'base64'), MAX_CHARACTERS)
    const problem = objection(signIn)
    if (!problem) return signIn as SignIn // validated by the schema
    throw malformed(problem)
  } catch (error) {
    throw error instanceof SignInRefused ? error : malformed('it is not base64-encoded JSON')
  }
}

function malformed(problem: string): SignInRefused {
  return new SignInRefused('invalid_siwx_malformed', problem)
}

/** Valid as long as a challenge, whatever was signed. */
function timesOf({ issuedAt, expirationTime }: SignIn, now: number): { iat: number; exp: number } {
  const iat = Math.floor(Date.parse(issuedAt) / 1000)
  const exp = Math.min(Math.floor(Date.parse(expirationTime) / 1000), iat + LIFETIME_SECONDS)
  if (Number.isNaN(exp)) throw malformed('its times are not valid dates')
  if (iat > now + MAX_CLOCK_LEAD_SECONDS)
    throw new SignInRefused('invalid_siwx_issued_at_in_future', 'it was issued in the future: check your clock')
  if (exp <= now) throw new SignInRefused('invalid_siwx_expired', `it is valid for ${LIFETIME_SECONDS} s`)
  return { iat, exp }
}

/** The format of EIP-4361, adapted to the primary chain. Fields that we do not request are not supported. */
function signedText({ domain, uri, address, nonce, issuedAt, expirationTime }: SignIn, network: Network): string {
  const [kind, chain] =
    network.family === 'evm' ? ['Ethereum', network.chainId] : ['Solana', network.caip2.split(':')[1]]
  return [
    `${domain} wants you to sign in with your ${kind} account:`,
    address,
    '',
    STATEMENT,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chain}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join('\n')
}

/** Clients compare with their own clock in milliseconds. */
function isoMilliseconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
