// The key that this page encrypts and decrypts with. It is in memory only, and lost with the page.

import { signal } from '@preact/signals'
import type { Download } from '@svc/sdk'
import type { EncryptionKey } from '@svc/sdk/encryption'
import type { LockerSession } from '../session.ts'
import type { Encrypt } from './uploads/queue.ts'

export type KeyKind = 'wallet' | 'passphrase' | 'identity'

export interface ChosenKey {
  kind: KeyKind
  lockerId: string
  key: EncryptionKey
}

/** Null: files are uploaded as they are. */
export const encryptionKey = signal<ChosenKey | null>(null)

/** Given to open files only. */
export const decryptionKey = signal<ChosenKey | null>(null)

export function hasOpeningKey(): boolean {
  return openingKeys().length > 0
}

function openingKeys(): EncryptionKey[] {
  return [decryptionKey.value, encryptionKey.value].flatMap((chosen) => chosen?.key ?? [])
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
  /** Age keys of others, apart by white space. */
  recipients: string
}

export async function readKey({ signer, locker }: LockerSession, input: KeyInput): Promise<ChosenKey> {
  const { identityKey, isRecipient, passphraseKey, walletKey } = await import('@svc/sdk/encryption')
  const { kind, secret } = input
  const lockerId = locker.locker_id
  const others = input.recipients.split(/[\s,]+/).filter(Boolean)
  if (kind === 'passphrase') {
    if (secret === '') throw new UnusableKey('empty')
    return { kind, lockerId, key: passphraseKey(secret, lockerId) }
  }
  if (!others.every(isRecipient)) throw new UnusableKey('recipient')
  if (kind === 'wallet') {
    const key = await walletKey(signer, others).catch(() => {
      throw new UnusableKey('wallet')
    })
    return { kind, lockerId, key }
  }
  const identities = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  try {
    return { kind, lockerId, key: identityKey(identities, others) }
  } catch {
    throw new UnusableKey('identity')
  }
}

/** Null while nothing is to be encrypted. */
export function encryptWith(chosen: ChosenKey | null): Encrypt | null {
  if (!chosen) return null
  return async (file, filename, signal) => {
    const { encrypted } = await import('@svc/sdk/encryption')
    return encrypted(file, filename, chosen.key, { signal })
  }
}

export interface OpenedDownload {
  download: Download
  /** Whether the bytes are encrypted, and stay so. */
  isEncrypted: boolean
  isDecrypted: boolean
}

/** Decrypts what is encrypted, by its content, if there is a key. Rejects if none fits. */
export async function openDownload(download: Download): Promise<OpenedDownload> {
  const { decryptedDownload, sniffed } = await import('@svc/sdk/encryption')
  const keys = openingKeys()
  const found = await sniffed(download)
  if (!found.isEncrypted || keys.length === 0)
    return { download: found, isEncrypted: found.isEncrypted, isDecrypted: false }
  return { download: await decryptedDownload(found, keys), isEncrypted: false, isDecrypted: true }
}
