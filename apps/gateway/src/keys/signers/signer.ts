// A key that signs, in this process or at an external signer, behind one interface (ADD-38).

import { limit } from '@svc/concurrency/locks'
import { asciiBytes, fromHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { type Ed25519Verifier, ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { SIGNER_CHECK_TAG } from '@svc/protocol/names'
import { ServiceError } from '@svc/service/service-error'
import type { ExternalKey, KeySource } from '../settings.ts'
import { signByHttp } from './http.ts'
import { signBySshAgent } from './ssh-agent.ts'

export interface KeySigner {
  publicKey: Uint8Array
  /** Throws `signing_key_unavailable` if the external signer cannot be reached. */
  sign(message: Uint8Array): Promise<Uint8Array>
}

export function openSigner(source: KeySource): KeySigner {
  if (!('seed' in source)) return externalSigner(source)
  const { publicKey, sign } = ed25519Signer(source.seed)
  return { publicKey, sign: async (message) => sign(message) }
}

/** Signs a meaningless message to check whether the key is available. */
export function trySigner(signer: KeySigner): Promise<Uint8Array> {
  return signer.sign(asciiBytes(`${SIGNER_CHECK_TAG}\0`))
}

/** For both attempts, including the wait for a slot. */
const DEADLINE_MS = 5_000
const ATTEMPTS = 2
const AT_ONCE = 16

function externalSigner(key: ExternalKey): KeySigner {
  const publicKey = fromHex(key.publicKeyHex, 32) as Uint8Array // checked when the settings were read
  const verifier = ed25519PublicKey(publicKey) as Ed25519Verifier
  const ask = key.signer.startsWith('ssh-agent:') ? signBySshAgent : signByHttp
  const inTurn = limit(AT_ONCE)

  async function attempt(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const deadline = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the signer does not answer in time')), { once: true })
    })
    const answer = inTurn(async () => {
      signal.throwIfAborted()
      return ask(key, message, signal)
    })
    const signature = await Promise.race([answer, deadline])
    if (!verifier.verify(message, signature)) throw new Error('the signer answered with an invalid signature')
    return signature
  }

  return {
    publicKey,
    async sign(message) {
      const signal = AbortSignal.timeout(DEADLINE_MS)
      for (let failures = 1; ; failures++) {
        try {
          return await attempt(message, signal)
        } catch (error) {
          if (failures >= ATTEMPTS || signal.aborted) throw unavailable(key, error)
        }
      }
    },
  }
}

function unavailable({ publicKeyHex }: ExternalKey, cause: unknown): ServiceError {
  return new ServiceError('signing_key_unavailable', `the signer of ${issuerKeyId(publicKeyHex)} is unavailable`, {
    hint: 'nothing was changed: send the same request again',
    headers: { 'retry-after': '5' },
    cause,
  })
}
