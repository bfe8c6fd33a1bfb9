// The two kinds of recipients: X25519 keys and passphrases.

import { x25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64nopad, bech32 } from '@scure/base'
import { concat, utf8 } from '@svc/protocol/bytes'
import { DecryptionError } from '../errors.ts'
import { damaged } from './damaged.ts'
import { fromBase64, type Stanza } from './header.ts'
import { scrypt, seal, TAG_BYTES, unseal } from './primitives.ts'

export const FILE_KEY_BYTES = 16
export const SALT_BYTES = 16

const X25519 = 'X25519'
const X25519_INFO = utf8('age-encryption.org/v1/X25519')
const IDENTITY_PREFIX = 'age-secret-key-'
const RECIPIENT_PREFIX = 'age'

/** The identity (`AGE-SECRET-KEY-1…`) of the 32 secret bytes of an X25519 key. */
export function identityOf(secret: Uint8Array): string {
  return bech32.encodeFromBytes(IDENTITY_PREFIX, secret).toUpperCase()
}

/** The secret bytes of an identity. Null for other text. */
export function secretOf(identity: string): Uint8Array | null {
  // Only the upper-case form is valid.
  return identity === identity.toUpperCase() ? keyIn(identity.toLowerCase(), IDENTITY_PREFIX) : null
}

/** The recipient (`age1…`) of an identity. */
export function recipientOf(identity: string): string {
  return bech32.encodeFromBytes(RECIPIENT_PREFIX, x25519.getPublicKey(requireSecret(identity)))
}

export function isRecipient(text: string): boolean {
  return keyIn(text, RECIPIENT_PREFIX) !== null
}

function keyIn(text: string, prefix: string): Uint8Array | null {
  try {
    const decoded = bech32.decodeToBytes(text)
    return decoded.prefix === prefix && decoded.bytes.length === 32 ? decoded.bytes : null
  } catch {
    return null
  }
}

function requireSecret(identity: string): Uint8Array {
  const secret = secretOf(identity)
  if (!secret) throw new RangeError('an identity must be AGE-SECRET-KEY-1 and 58 more characters')
  return secret
}

/** `ephemeral`: a secret key that is used only once. */
export function wrapForRecipient(recipient: string, fileKey: Uint8Array, ephemeral: Uint8Array): Stanza {
  const theirs = keyIn(recipient, RECIPIENT_PREFIX)
  if (!theirs) throw new RangeError(`${JSON.stringify(recipient)} is not a recipient (age1 and 58 more characters)`)
  const share = x25519.getPublicKey(ephemeral)
  const key = hkdf(sha256, x25519.getSharedSecret(ephemeral, theirs), concat(share, theirs), X25519_INFO, 32)
  return { args: [X25519, base64nopad.encode(share)], body: sealKey(key, fileKey) }
}

/** Null if none of the stanzas is for this identity. */
export function unwrapWithIdentity(identity: string, stanzas: readonly Stanza[]): Uint8Array | null {
  const secret = requireSecret(identity)
  const own = x25519.getPublicKey(secret)
  for (const { args, body } of stanzas) {
    const [type, text = '', ...more] = args
    if (type !== X25519) continue
    const share = fromBase64(text)
    if (more.length > 0 || share.length !== 32) throw damaged('its header has a malformed recipient')
    const key = hkdf(sha256, sharedSecret(secret, share), concat(share, own), X25519_INFO, 32)
    const fileKey = unsealKey(key, body)
    if (fileKey) return fileKey
  }
  return null
}

/** Refuses points that make the shared secret predictable. */
function sharedSecret(secret: Uint8Array, share: Uint8Array): Uint8Array {
  try {
    return x25519.getSharedSecret(secret, share)
  } catch {
    throw damaged('its header has a malformed recipient')
  }
}

export const SCRYPT = 'scrypt'
const SCRYPT_LABEL = utf8('age-encryption.org/v1/scrypt')
/** The default of standard tools: 256 MiB of memory. */
const WORK_FACTOR = 18
/** One GiB of memory. A file that requires more is hostile. */
const MAX_WORK_FACTOR = 20

/** `salt` must be new, because the key is derived only from it and the passphrase. */
export async function wrapForPassphrase(passphrase: string, fileKey: Uint8Array, salt: Uint8Array): Promise<Stanza> {
  const key = await stretch(passphrase, concat(SCRYPT_LABEL, salt), WORK_FACTOR)
  return { args: [SCRYPT, base64nopad.encode(salt), String(WORK_FACTOR)], body: sealKey(key, fileKey) }
}

/** Null if the file is not encrypted with a passphrase, or with another one. */
export async function unwrapWithPassphrase(passphrase: string, stanzas: readonly Stanza[]): Promise<Uint8Array | null> {
  const stanza = stanzas.find(({ args }) => args[0] === SCRYPT)
  if (!stanza) return null
  const [, text = '', workFactor = '', ...more] = stanza.args
  const salt = fromBase64(text)
  const isWellFormed = more.length === 0 && salt.length === SALT_BYTES && /^[1-9]\d?$/.test(workFactor)
  if (!isWellFormed) throw damaged('its header has a malformed recipient')
  if (Number(workFactor) > MAX_WORK_FACTOR)
    throw new DecryptionError(
      'unsupported',
      `its passphrase requires 2^${workFactor} rounds, more than 2^${MAX_WORK_FACTOR}`,
    )
  return unsealKey(await stretch(passphrase, concat(SCRYPT_LABEL, salt), Number(workFactor)), stanza.body)
}

/** Derives a key from a passphrase, deliberately slowly. */
export function stretch(passphrase: string, salt: Uint8Array, workFactor = WORK_FACTOR): Promise<Uint8Array> {
  return scrypt(utf8(passphrase), salt, 2 ** workFactor)
}

const NO_NONCE = new Uint8Array(12)

/** Each key seals one file key, so it needs no nonce. */
function sealKey(key: Uint8Array, fileKey: Uint8Array): Uint8Array {
  return seal(key, NO_NONCE, fileKey)
}

function unsealKey(key: Uint8Array, body: Uint8Array): Uint8Array | null {
  if (body.length !== FILE_KEY_BYTES + TAG_BYTES) throw damaged('a key in its header has the wrong length')
  return unseal(key, NO_NONCE, body)
}
