import { createHash, randomBytes } from 'node:crypto'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf, type SigAlg } from '@svc/protocol/keys'
import { bodyBinding, personalSignEnvelope, type RequestEnvelope, signEnvelope } from '@svc/protocol/request-envelope'

export interface BenchLocker {
  locker_id: string
  receipt_id: string
}

/** The key of a bench locker's owner. */
export function ownerSeed(index: number): Uint8Array {
  return createHash('sha256').update(`bench owner ${index}`).digest()
}

export function ownerIdentity(index: number, sigAlg: SigAlg): string {
  const seed = ownerSeed(index)
  return sigAlg === 'secp256k1' ? evmAddressOf(seed) : toBase58(ed25519Signer(seed).publicKey)
}

export interface SignedRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  ops: string[]
  body?: string
}

/** Signs requests to one locker, each with its own nonce. */
export function requestSigner(index: number, { locker_id, receipt_id }: BenchLocker, sig_alg: SigAlg = 'ed25519') {
  const seed = ownerSeed(index)
  const signer = ed25519Signer(seed)
  const signed = (envelope: RequestEnvelope) =>
    sig_alg === 'secp256k1' ? personalSignEnvelope(envelope, seed) : signEnvelope(envelope, signer)
  return ({ method, path, ops, body = '' }: SignedRequest): Record<string, string> => {
    const iat = Math.floor(Date.now() / 1000)
    const { envelope, signature } = signed({
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
      sig_alg,
    })
    return { 'x-svc-envelope': envelope, 'x-svc-signature': signature }
  }
}
