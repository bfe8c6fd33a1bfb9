// The credentials of a request: envelopes and tokens.

import type { Endpoint, EnvelopeAuth } from '@svc/api/endpoint'
import { toBase64Url, toHex } from '@svc/protocol/bytes'
import { sigAlgOf } from '@svc/protocol/keys'
import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import { bodyBinding, encodeEnvelope, MAX_LIFETIME_SECONDS } from '@svc/protocol/request-envelope'
import { type Context, gatewayNow, randomBytes } from '../context.ts'
import type { Signer } from '../signers.ts'
import type { AnyInput } from './input.ts'

export interface Unsigned {
  path: string
  body: Uint8Array
  input: AnyInput
}

export async function credentials(
  context: Context,
  endpoint: Endpoint,
  request: Unsigned,
): Promise<Record<string, string>> {
  const { auth } = endpoint
  const { token } = request.input
  if (typeof auth === 'object') {
    const signer = signerFor(context, endpoint, auth)
    return signer ? signed(context, signer, endpoint.method, auth, request) : {}
  }
  if (token === undefined) return {}
  return auth === 'upload-token' ? { 'x-upload-token': token } : { authorization: `Bearer ${token}` }
}

/** Null if the client has no signer and the endpoint does not require one. */
function signerFor({ signer }: Context, { name }: Endpoint, { optional }: EnvelopeAuth): Signer | null {
  if (!signer && !optional) throw new TypeError(`${name} needs a client with a signer`)
  return signer
}

export function isSigned({ signer }: Context, { auth }: Endpoint): boolean {
  return typeof auth === 'object' && signer !== null
}

async function signed(
  context: Context,
  signer: Signer,
  method: string,
  { ops }: EnvelopeAuth,
  { path, body, input }: Unsigned,
): Promise<Record<string, string>> {
  const iat = Math.floor(gatewayNow(context) / 1000)
  const ids = idsOf(input)
  const bytes = encodeEnvelope({
    v: 1,
    ...ids,
    // Without `aud`, a service could forward the envelope to another one.
    ...(!isBoundToService(ids, context) && { aud: context.baseUrl }),
    nonce: toHex(randomBytes(16)),
    iat,
    exp: iat + MAX_LIFETIME_SECONDS,
    // One op is enough: the envelope grants no more than needed.
    ops: ops.map((op) => [op].flat()[0] as string),
    method,
    path,
    body_sha256: bodyBinding(method, body),
    sig_alg: sigAlgOf(signer.address),
  })
  return {
    ...context.service.signerHeaders(signer.address),
    [HEADER_ENVELOPE]: toBase64Url(bytes),
    [HEADER_SIGNATURE]: await signer.sign(bytes),
  }
}

interface Ids {
  locker_id: string
  receipt_id: string
}

function isBoundToService({ locker_id, receipt_id }: Ids, { service }: Context): boolean {
  return service.ownsLockers && (locker_id !== '' || receipt_id !== '')
}

/** The locker and receipt of a request, from its path, query or body. */
function idsOf({ params = {}, query = {}, body }: AnyInput): Ids {
  const named = { ...(body as Record<string, unknown> | undefined), ...query, ...params }
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return { locker_id: text(named.locker_id), receipt_id: text(named.receipt_id) }
}
