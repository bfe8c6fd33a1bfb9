// SCRAM-SHA-256, the server's side (RFC 5802, RFC 7677).

import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export interface Credentials {
  user: string
  password: string
}

export interface Conversation {
  challenge: string
  /** Proves to the client that the server knows the password; null when the client's proof is wrong. */
  finish(clientFinal: string): string | null
}

/** The least that drivers accept. */
const ITERATIONS = 4096

/** The answer to a client's first message; null for an unknown user. */
export type BeginScram = (clientFirst: string) => Conversation | null

export function createScram({ user, password }: Credentials): BeginScram {
  const salt = randomBytes(24)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const clientKey = hmac(salted, 'Client Key')
  const storedKey = createHash('sha256').update(clientKey).digest()
  const serverKey = hmac(salted, 'Server Key')

  return (clientFirst) => {
    const bare = clientFirst.replace(/^n,[^,]*,/, '')
    const { n, r: clientNonce } = attributesOf(bare)
    if (n?.replaceAll('=2C', ',').replaceAll('=3D', '=') !== user || !clientNonce) return null
    const nonce = clientNonce + randomBytes(18).toString('base64')
    const challenge = `r=${nonce},s=${salt.toString('base64')},i=${ITERATIONS}`
    return {
      challenge,
      finish(clientFinal) {
        const withoutProof = clientFinal.replace(/,p=[^,]*$/, '')
        const { r, p = '' } = attributesOf(clientFinal)
        const message = `${bare},${challenge},${withoutProof}`
        const proof = xor(clientKey, hmac(storedKey, message))
        const given = Buffer.from(p, 'base64')
        const isRight = r === nonce && given.length === proof.length && timingSafeEqual(given, proof)
        return isRight ? `v=${hmac(serverKey, message).toString('base64')}` : null
      },
    }
  }
}

function attributesOf(message: string): Record<string, string> {
  return Object.fromEntries(message.split(',').map((attribute) => [attribute.slice(0, 1), attribute.slice(2)]))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] as number))) // both are SHA-256 digests
}
