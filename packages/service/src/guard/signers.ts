// Finds the signer of an envelope. An envelope names no key, so the owner's key is tried first, then each operator's.

import { lru } from '@svc/concurrency/caches'
import { fromBase58 } from '@svc/protocol/bytes'
import { sigAlgOf } from '@svc/protocol/keys'
import type { SignedEnvelope } from '../http/envelope.ts'
import { ServiceError } from '../service-error.ts'
import { createVerify } from './verify-batch.ts'

export interface Candidates {
  owner: string
  /** Ed25519 keys, base58. */
  operators: readonly string[]
}

export interface Signer {
  role: 'owner' | 'operator'
  /** The owner's identity, or the operator's key. */
  identity: string
}

/** The signed bytes, their signature and its algorithm. */
export interface SignedText extends Pick<SignedEnvelope, 'bytes' | 'signature'> {
  envelope: Pick<SignedEnvelope['envelope'], 'sig_alg'>
}

/** Null when none of the candidates signed. */
export type FindSigner = (signed: SignedText, candidates: Candidates) => Promise<Signer | null>

const MAX_HINTS = 10_000

/** `processes`: how many processes of the service share this machine. */
export function createSignerFinder(processes?: number): FindSigner {
  const verify = createVerify(processes)
  /** The last signer for each owner. The same key is likely to sign next, and each wrong key costs a verification. */
  const hints = lru<string, string>(MAX_HINTS)

  async function findAmong(identities: Iterable<string>, { bytes, signature }: SignedText): Promise<string | null> {
    for (const identity of identities) {
      if (await verify({ identity, message: bytes, signature })) return identity
    }
    return null
  }

  return async (signed, { owner, operators }) => {
    const { sig_alg } = signed.envelope
    const ownerAlg = sigAlgOf(owner)
    if (sig_alg === 'secp256k1') {
      if (ownerAlg !== sig_alg) return null
      const isOwner = await findAmong([owner.toLowerCase()], signed)
      return isOwner ? { role: 'owner', identity: owner } : null
    }
    const identities = ownerAlg === 'ed25519' ? [owner, ...operators] : operators
    const hint = hints.get(owner)
    const isHintFirst = hint === undefined || hint === identities[0]
    const likelyFirst = isHintFirst || !identities.includes(hint) ? identities : new Set([hint, ...identities])
    const identity = await findAmong(likelyFirst, signed)
    if (identity === null) return null
    if (identity !== hint) hints.set(owner, identity)
    return { role: identity === owner ? 'owner' : 'operator', identity }
  }
}

/** For callers who may know the owner. Names the expected signer, shortened: the key's holder recognizes it. */
export function notSigned({ owner }: Candidates, { envelope, signature }: SignedEnvelope): ServiceError {
  const alg = sigAlgOf(owner)
  const key = `${owner.slice(0, 6)}…${owner.slice(-4)}`
  return new ServiceError('SIGNATURE_INVALID', NOT_SIGNED, {
    hint: `${formHint(envelope.sig_alg, signature)}${
      alg === 'secp256k1'
        ? `the owner ${key} signs with sig_alg secp256k1 (personal-sign, which a contract wallet cannot do); operators with ed25519`
        : `sign the exact bytes of X-Svc-Envelope, decoded, with the key of the owner ${key} or of a registered operator`
    }`,
    details: { expected_owner: key, owner_sig_alg: alg },
  })
}

/** For callers who may know only the locker: its id is in every short URL, and must not reveal a wallet. */
export function notSignedForLocker({ envelope, signature }: SignedEnvelope): ServiceError {
  return new ServiceError('SIGNATURE_INVALID', NOT_SIGNED, {
    hint: `${formHint(envelope.sig_alg, signature)}sign the exact bytes of X-Svc-Envelope, decoded, with the key of the owner or of a registered operator; put the receipt_id into the envelope to learn whose key is expected`,
  })
}

const NOT_SIGNED = 'signature does not verify under the owner or any registered operator key'

function formHint(alg: string, signature: string): string {
  if (alg === 'secp256k1') return /^0x[0-9a-f]{130}$/i.test(signature) ? '' : 'send 0x and 130 hex as X-Svc-Signature; '
  return fromBase58(signature, 64) ? '' : 'send base58 of 64 bytes as X-Svc-Signature; '
}
