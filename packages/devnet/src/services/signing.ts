// Clients that sign their requests to the gateway.

import { randomBytes } from 'node:crypto'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf } from '@svc/protocol/keys'
import {
  bodyBinding,
  personalSignEnvelope,
  type RequestEnvelope,
  type SignedHeaders,
  signEnvelope,
} from '@svc/protocol/request-envelope'

export interface Identity {
  identity: string
  sigAlg: 'ed25519' | 'secp256k1'
  sign(envelope: RequestEnvelope): SignedHeaders
}

export function ed25519Identity(seed: Uint8Array = randomBytes(32)): Identity {
  const signer = ed25519Signer(seed)
  return {
    identity: toBase58(signer.publicKey),
    sigAlg: 'ed25519',
    sign: (envelope) => signEnvelope(envelope, signer),
  }
}

export function evmIdentity(privateKey: Uint8Array = randomBytes(32)): Identity {
  return {
    identity: evmAddressOf(privateKey),
    sigAlg: 'secp256k1',
    sign: (envelope) => personalSignEnvelope(envelope, privateKey),
  }
}

export interface SignedCall {
  method?: string
  /** With its query, exactly as sent. */
  path: string
  /** An object is sent as JSON; text and bytes as they are. */
  body?: unknown
  ops: string[]
  lockerId?: string
  receiptId?: string
  /** Fields of the envelope to replace. */
  envelope?: Partial<RequestEnvelope>
  headers?: Record<string, string>
}

/** Headers of a signed call, and the body to send; `now` is Unix milliseconds. */
export function signCall(who: Identity, call: SignedCall, now: number) {
  const { method = 'GET', path, ops, lockerId = '', receiptId = '', headers = {} } = call
  const body = bytesOf(call.body)
  const iat = Math.floor(now / 1000)
  const { envelope, signature } = who.sign({
    v: 1,
    locker_id: lockerId,
    receipt_id: receiptId,
    nonce: toHex(randomBytes(16)),
    iat,
    exp: iat + 60,
    ops,
    method,
    path: path.split('?', 1)[0] as string,
    body_sha256: bodyBinding(method, body ?? new Uint8Array()),
    sig_alg: who.sigAlg,
    ...call.envelope,
  })
  return { body, headers: { 'x-svc-envelope': envelope, 'x-svc-signature': signature, ...headers } }
}

export function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}
