// The keys for encryption and decryption, each for one locker. They are in memory only, and deleted when the page is
// locked (T-68).

import { signal } from '@preact/signals'
import type { Download } from '@svc/sdk'
import type { EncryptionKey } from '@svc/sdk/encryption'
import { endWithLock, type LockerSession } from '../session.ts'
import type { Encrypt } from './uploads/upload-list.ts'

export type KeyKind = 'wallet' | 'passphrase' | 'identity'

/** A key for encryption also decrypts. */
export type KeyPurpose = 'encrypt' | 'decrypt'

interface ChosenKey {
  kind: KeyKind
  key: EncryptionKey
}

/** The keys by locker. */
type Keys = Record<KeyPurpose, ReadonlyMap<string, ChosenKey>>

const NONE: Keys = { encrypt: new Map(), decrypt: new Map() }
const keys = signal<Keys>(NONE)
let locks = 0

endWithLock(() => {
  keys.value = NONE
  locks++
})

/** The kind of key that encrypts files of this locker; null without encryption. */
export function encryptionKind(lockerId: string): KeyKind | null {
  return keys.value.encrypt.get(lockerId)?.kind ?? null
}

export function stopEncrypting(lockerId: string): void {
  const { encrypt, decrypt } = keys.value
  keys.value = { decrypt, encrypt: new Map([...encrypt].filter(([id]) => id !== lockerId)) }
}

export function hasOpeningKey(lockerId: string): boolean {
  return openingKeys(lockerId).length > 0
}

function openingKeys(lockerId: string): EncryptionKey[] {
  const { encrypt, decrypt } = keys.value
  return [decrypt, encrypt].flatMap((chosen) => chosen.get(lockerId)?.key ?? [])
}

export class UnusableKey extends Error {
  override name = 'UnusableKey'
  readonly reason: 'empty' | 'differ' | 'identity' | 'recipient' | 'wallet'

  constructor(reason: UnusableKey['reason']) {
    super(reason)
    this.reason = reason
  }
}

export interface KeyInput {
  kind: KeyKind
  /** A passphrase or the text of an age key file. */
  secret: string
  /** Age recipients of others, separated by white space. */
  recipients: string
}

/** Uses a key for the locker of the session. Throws `UnusableKey`. */
export async function setKey(session: LockerSession, purpose: KeyPurpose, input: KeyInput): Promise<void> {
  const before = locks
  const chosen = { kind: input.kind, key: await readKey(session, input) }
  // The page was locked while the wallet asked its user.
  if (locks !== before) return
  keys.value = { ...keys.value, [purpose]: new Map(keys.value[purpose]).set(session.locker.locker_id, chosen) }
}

async function readKey({ signer, locker }: LockerSession, input: KeyInput): Promise<EncryptionKey> {
  const { identityKey, isRecipient, passphraseKey, walletKey } = await import('@svc/sdk/encryption')
  const { kind, secret } = input
  const others = input.recipients.split(/[\s,]+/).filter(Boolean)
  if (kind === 'passphrase') {
    if (secret === '') throw new UnusableKey('empty')
    return passphraseKey(secret, locker.locker_id)
  }
  if (!others.every(isRecipient)) throw new UnusableKey('recipient')
  if (kind === 'wallet')
    return walletKey(signer, others).catch(() => {
      throw new UnusableKey('wallet')
    })
  const identities = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  try {
    return identityKey(identities, others)
  } catch {
    throw new UnusableKey('identity')
  }
}

/** Encrypts with the current key; null without encryption. */
export function encryptNow(lockerId: string): Encrypt | null {
  const chosen = keys.value.encrypt.get(lockerId)
  if (!chosen) return null
  return async (file, filename, signal) => {
    const { encrypted } = await import('@svc/sdk/encryption')
    return encrypted(file, filename, chosen.key, { signal })
  }
}

export interface OpenedDownload {
  download: Download
  /** Whether the bytes are encrypted and stay encrypted. */
  isEncrypted: boolean
  isDecrypted: boolean
}

/** Decrypts encrypted content if there is a key for this locker. Rejects if the key does not fit. */
export async function openDownload(lockerId: string, download: Download): Promise<OpenedDownload> {
  const { decryptedDownload, sniffed } = await import('@svc/sdk/encryption')
  const opening = openingKeys(lockerId)
  const found = await sniffed(download)
  if (!found.isEncrypted || opening.length === 0)
    return { download: found, isEncrypted: found.isEncrypted, isDecrypted: false }
  return { download: await decryptedDownload(found, opening), isEncrypted: false, isDecrypted: true }
}
