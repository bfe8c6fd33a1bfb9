import { createHash, randomBytes } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { bodyBinding, signEnvelope } from '@svc/protocol/request-envelope'

export interface BenchLocker {
  locker_id: string
  receipt_id: string
}

/** The key of a bench locker's owner. */
export function ownerSeed(index: number): Uint8Array {
  return createHash('sha256').update(`bench owner ${index}`).digest()
}

export interface SignedRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  ops: string[]
  body?: string
}

/** Signs requests to one locker, each with its own nonce. */
export function requestSigner(index: number, { locker_id, receipt_id }: BenchLocker) {
  const signer = ed25519Signer(ownerSeed(index))
  return ({ method, path, ops, body = '' }: SignedRequest): Record<string, string> => {
    const iat = Math.floor(Date.now() / 1000)
    const { envelope, signature } = signEnvelope(
      {
        v: 1,
        locker_id,
        receipt_id,
        nonce: randomBytes(16).toString('hex'),
        iat,
        exp: iat + 60,
        ops,
        method,
        path: path.split('?', 1)[0] as string,
        body_sha256: bodyBinding(method, Buffer.from(body)),
        sig_alg: 'ed25519',
      },
      signer,
    )
    return { 'x-svc-envelope': envelope, 'x-svc-signature': signature }
  }
}
