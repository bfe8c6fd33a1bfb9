// The encryption keys that the options of a command name.

import type { Download, Source } from '@svc/sdk'
import type { EncryptionKey } from '@svc/sdk/encryption'
import { fileSource, KeyFileError, readIdentityFile, readPrivately } from '@svc/sdk/node'
import type { Command } from 'commander'
import { Failure, NotVerified, UsageError } from '../errors.ts'
import { listOption } from '../options.ts'
import { askSecret } from '../output/secret.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

interface KeyOptions {
  identity?: string
  passphrase?: boolean
  passphraseFile?: string
}

export interface EncryptOptions extends KeyOptions {
  encrypt?: boolean
  recipient?: string[]
}

export interface DecryptOptions extends KeyOptions {
  decrypt?: boolean
}

export function withEncryptOptions(command: Command): Command {
  command
    .option('--encrypt', 'encrypt for the wallet before anything leaves this machine; names get .age at the end')
    .addOption(listOption('--recipient <age1…>', 'encrypt, and also let this age key decrypt; may be repeated'))
  return withKeyOptions(command, 'encrypt')
}

export function withDecryptOptions(command: Command): Command {
  command.option('--decrypt', 'decrypt encrypted files with the wallet')
  return withKeyOptions(command, 'decrypt')
}

function withKeyOptions(command: Command, verb: string): Command {
  return command
    .option('--identity <file>', `${verb} with the age key in this file instead of the wallet`)
    .option('--passphrase', `${verb} with a passphrase that you type`)
    .option('--passphrase-file <file>', `${verb} with the passphrase in this file`)
}

/** The key files on the command line, which are never uploaded. */
export function secretFilesOf({ identity, passphraseFile }: KeyOptions): string[] {
  return [identity, passphraseFile].filter((path) => path !== undefined)
}

/** Encrypts a source as the file of this name. */
export type Encrypt = (source: Source, filename: string) => Promise<Source>

/** Any key option turns encryption on: a forgotten --encrypt must not upload plaintext. */
export function isEncrypting(options: EncryptOptions): boolean {
  const { encrypt = false, recipient = [] } = options
  return encrypt || recipient.length > 0 || hasKey(options)
}

/** Null without options for encryption. */
export async function encryption(
  session: Session,
  locker: NamedLocker,
  options: EncryptOptions,
): Promise<Encrypt | null> {
  const { recipient: others = [] } = options
  if (!isEncrypting(options)) return null
  if (others.length > 0 && hasPassphrase(options))
    throw new UsageError('an age file has either a passphrase or recipients', 'leave out --recipient or the passphrase')
  const { encrypted, isRecipient } = await import('@svc/sdk/encryption')
  const invalid = others.find((text) => !isRecipient(text))
  if (invalid !== undefined)
    throw new UsageError(
      `${JSON.stringify(invalid)} is not an age recipient`,
      'recipients begin with age1; `svc whoami` shows yours',
    )
  const key = await keyOf(session, locker, options, { others, isNew: true })
  return (source, filename) => encrypted(source, filename, key, session.host)
}

/** Decrypts downloads and files with the key of the command line. */
export interface Decrypt {
  readonly key: EncryptionKey
  /** The hash of a file on disk after encryption with this key under this name. */
  hashEncrypted(path: string, filename: string): Promise<string>
}

/** Null without options for decryption. */
export async function decryption(
  session: Session,
  locker: NamedLocker | null,
  options: DecryptOptions,
): Promise<Decrypt | null> {
  if (!options.decrypt && !hasKey(options)) return null
  const { encrypted } = await import('@svc/sdk/encryption')
  const key = await keyOf(session, locker, options, { others: [], isNew: false })
  return {
    key,
    async hashEncrypted(path, filename) {
      const { contentHash } = await encrypted(await fileSource(path), filename, key, session.host)
      return contentHash as string // a file can be read again, so its hash is known
    },
  }
}

function hasKey(options: KeyOptions): boolean {
  return options.identity !== undefined || hasPassphrase(options)
}

function hasPassphrase({ passphrase = false, passphraseFile }: KeyOptions): boolean {
  return passphrase || passphraseFile !== undefined
}

async function keyOf(
  session: Session,
  locker: NamedLocker | null,
  options: KeyOptions,
  { others, isNew }: { others: readonly string[]; isNew: boolean },
): Promise<EncryptionKey> {
  const { identity } = options
  const { identityKey, passphraseKey, walletKey } = await import('@svc/sdk/encryption')
  if (identity !== undefined && hasPassphrase(options))
    throw new UsageError('give either --identity or a passphrase, not both')
  if (identity !== undefined) return identityKey(await readIdentityFile(identity).catch(unusable), others)
  if (hasPassphrase(options))
    return passphraseKey(await givenPassphrase(session, options, isNew), locker?.locker_id ?? '')
  const { signer } = await session.keyFor(locker?.owner ?? null)
  return walletKey(signer, others)
}

async function givenPassphrase({ host }: Session, { passphraseFile }: KeyOptions, isNew: boolean): Promise<string> {
  const passphrase =
    passphraseFile === undefined
      ? await askSecret(host, 'The passphrase')
      : (await readPrivately(passphraseFile).catch(unusable)).replace(/\r?\n$/, '')
  if (passphrase === '') throw new UsageError('the passphrase is empty')
  if (isNew && passphraseFile === undefined && passphrase !== (await askSecret(host, 'Repeat the passphrase')))
    throw new UsageError('the two passphrases differ')
  return passphrase
}

function unusable(error: unknown): never {
  if (!(error instanceof KeyFileError)) throw error
  const hint = error.code === 'readable_by_others' ? 'let only your user read it: chmod 600' : null
  throw new Failure(`the key cannot be used: ${error.message}`, hint)
}

const WITHOUT_DECRYPT = 'without --decrypt it is saved unchanged'

export interface OpenedDownload {
  download: Download
  /** Whether the bytes are encrypted and stay encrypted. */
  isEncrypted: boolean
  /** Whether they were encrypted and are plaintext now. */
  isDecrypted: boolean
}

/**
 * Decrypts a download if its content is encrypted and the user asks for decryption. Plaintext under a name that only
 * encrypted files get is rejected: someone may have replaced the file.
 */
export async function openDownload(download: Download, decrypt: Decrypt | null): Promise<OpenedDownload> {
  const { decryptedDownload, sniffed } = await import('@svc/sdk/encryption')
  const { ENCRYPTED_ENDING } = await import('@svc/sdk')
  const found = await sniffed(download)
  if (decrypt && !found.isEncrypted && download.filename.endsWith(ENCRYPTED_ENDING)) {
    await found.stream.cancel()
    throw new NotVerified(`${download.filename} is not encrypted: someone may have replaced it`, WITHOUT_DECRYPT)
  }
  if (!found.isEncrypted || !decrypt) return { download: found, isEncrypted: found.isEncrypted, isDecrypted: false }
  return { download: await decryptedDownload(found, [decrypt.key]), isEncrypted: false, isDecrypted: true }
}
