// For tests: drafts of signed requests. A test can corrupt any part of a draft before it is signed and sent.

import { randomBytes } from 'node:crypto'
import type { Identity, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { bodyBinding, type RequestEnvelope } from '@svc/protocol/request-envelope'
import { sendRaw } from './send-raw.ts'

export interface Draft {
  method: string
  target: string
  body: string | undefined
  envelope: RequestEnvelope
  signer: Identity
  /** Makes the headers to send from the signed pair. */
  headers(signed: SignedPair): Record<string, string | string[]>
}

export interface SignedPair {
  'x-svc-envelope': string
  'x-svc-signature': string
}

interface Call {
  method: string
  target: string
  ops: string[]
  body?: string | undefined
}

/** A valid request by the owner of a locker. */
export function draft(instance: TestGateway, locker: TestLocker, { method, target, ops, body }: Call): Draft {
  const iat = Math.floor(instance.clock.now() / 1000)
  const envelope: RequestEnvelope = {
    v: 1,
    locker_id: locker.lockerId,
    receipt_id: locker.receiptId,
    nonce: toHex(randomBytes(16)),
    iat,
    exp: iat + 60,
    ops,
    method,
    path: target.split('?', 1)[0] as string,
    body_sha256: bodyBinding(method, utf8(body ?? '')),
    sig_alg: locker.owner.sigAlg,
  }
  return { method, target, body, envelope, signer: locker.owner, headers: (signed) => ({ ...signed }) }
}

export function sendDraft(instance: TestGateway, { method, target, body, envelope, signer, headers }: Draft) {
  const signed = signer.sign(envelope)
  const pair = { 'x-svc-envelope': signed.envelope, 'x-svc-signature': signed.signature }
  return sendRaw(instance.gateway.url, { method, target, body, headers: headers(pair) })
}
