// Keys for encrypting and decrypting files: age identities, passphrases and wallets.

import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { equalBytes, fromBase58, fromHex, utf8 } from '@svc/protocol/bytes'
import { ENCRYPTION_KEY_TAG } from '@svc/protocol/names'
import { randomBytes } from '../context.ts'
import type { Signer } from '../signers.ts'
import type { Stanza } from './header.ts'
import {
  identityOf,
  isRecipient,
  recipientOf,
  SALT_BYTES,
  secretOf,
  stretch,
  unwrapWithIdentity,
  unwrapWithPassphrase,
  wrapForPassphrase,
  wrapForRecipient,
} from './recipients.ts'

/** Derives bytes that differ for each purpose. */
export type Derive = (purpose: string, length: number) => Uint8Array

export interface EncryptionKey {
  /** The recipients that can decrypt. Empty for a passphrase. */
  readonly recipients: readonly string[]
  /**
   * Known only to the owner of the key. It makes encryption deterministic, so that the owner can recognize equal files.
   */
  secret(): Promise<Uint8Array>
  wrap(fileKey: Uint8Array, derive: Derive): Promise<Stanza[]>
  /** The file key. Null if the file is not encrypted for this key. */
  unwrap(stanzas: readonly Stanza[]): Promise<Uint8Array | null>
}

export function newIdentity(): string {
  return identityOf(randomBytes(32))
}

/** Makes a key from the identities of an age key file. `others` are more recipients that can decrypt. */
export function identityKey(identities: readonly string[], others: readonly string[] = []): EncryptionKey {
  const [first] = identities
  const own = first === undefined ? null : secretOf(first)
  if (!own) throw new RangeError('an identity must be AGE-SECRET-KEY-1 and 58 more characters')
  const invalid = others.find((other) => !isRecipient(other))
  if (invalid !== undefined) throw new RangeError(`${JSON.stringify(invalid)} is not a recipient (age1…)`)
  const recipients = [...new Set([...identities.map(recipientOf), ...others])]
  return {
    recipients,
    secret: async () => hkdf(sha256, own, utf8(ENCRYPTION_KEY_TAG), utf8('file keys'), 32),
    wrap: async (fileKey, derive) =>
      recipients.map((recipient) => wrapForRecipient(recipient, fileKey, derive(`ephemeral ${recipient}`, 32))),
    async unwrap(stanzas) {
      for (const identity of identities) {
        const fileKey = unwrapWithIdentity(identity, stanzas)
        if (fileKey) return fileKey
      }
      return null
    },
  }
}

/** `scope`, the locker id, separates equal passphrases of different people. */
export function passphraseKey(passphrase: string, scope: string): EncryptionKey {
  let secret: Promise<Uint8Array> | undefined
  return {
    recipients: [],
    secret: () => {
      secret ??= stretch(passphrase, utf8(`${ENCRYPTION_KEY_TAG}|${scope}`))
      return secret
    },
    wrap: async (fileKey, derive) => [await wrapForPassphrase(passphrase, fileKey, derive('salt', SALT_BYTES))],
    unwrap: (stanzas) => unwrapWithPassphrase(passphrase, stanzas),
  }
}

/**
 * The identity of a wallet. It is derived from a signature that is never sent, so only the wallet can derive it again,
 * on any machine. A wallet that signs the same text differently each time is refused, because its files would be lost.
 */
export async function walletIdentity(signer: Signer): Promise<string> {
  const address = signer.address.startsWith('0x') ? signer.address.toLowerCase() : signer.address
  const lines = [
    ENCRYPTION_KEY_TAG,
    'Unlock the files that this wallet has encrypted.',
    'Anybody who gets this signature can read them: sign only in a program that you trust.',
    `wallet: ${address}`,
  ]
  const message = utf8(lines.join('\n'))
  const signature = signatureBytes(await signer.sign(message))
  if (!equalBytes(signature, signatureBytes(await signer.sign(message))))
    throw new Error('this wallet signs the same text differently each time: encrypt with a passphrase or an age key')
  return identityOf(hkdf(sha256, signature, utf8(ENCRYPTION_KEY_TAG), utf8('identity'), 32))
}

export async function walletKey(signer: Signer, others: readonly string[] = []): Promise<EncryptionKey> {
  return identityKey([await walletIdentity(signer)], others)
}

/** Only r and s of an EVM signature, because wallets write the recovery byte in two ways. */
function signatureBytes(signature: string): Uint8Array {
  const bytes = signature.startsWith('0x')
    ? fromHex(signature.slice(2).toLowerCase(), 65)?.subarray(0, 64)
    : fromBase58(signature, 64)
  if (!bytes) throw new Error('this wallet makes no plain signatures: encrypt with a passphrase or an age key')
  return bytes
}
