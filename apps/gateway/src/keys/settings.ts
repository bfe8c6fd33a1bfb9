// Where the statement key is: in a setting, in a file, or with an external signer that never reveals it.

import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Mode, SettingsReader } from '@svc/service/program/config'
import { NO_KEY, readKey, readOptionalKey } from '@svc/service/program/keys'

export interface KeyConfig {
  /** The public recovery key in hex, which clients pin with the other keys; null without one. */
  recovery: string | null
}

export type KeySource = { seed: Uint8Array } | ExternalKey

export interface ExternalKey {
  /** `http(s)://…`, `unix:/path` or `ssh-agent:/path`. */
  signer: string
  publicKeyHex: string
  token: string | null
}

export interface KeySecrets {
  /** Signs receipts, attestations and statements. */
  statementKey: KeySource
  /** Replaces `statementKey` when the admin rotates the keys. */
  nextStatementKey: KeySource | null
}

export function readKeyConfig(settings: SettingsReader): KeyConfig {
  return { recovery: publicKey(settings, 'RECOVERY_PUBLIC_KEY', settings.text('RECOVERY_PUBLIC_KEY')) }
}

export function readKeySecrets(settings: SettingsReader, mode: Mode, dataDir: string): KeySecrets {
  const isProduction = mode === 'production'
  const statementKey =
    readExternalKey(settings, 'STATEMENT_KEY', isProduction) ??
    seedSource(readKey(settings, { mode, dataDir, variable: 'STATEMENT_KEY', name: 'statement' }))
  const nextStatementKey =
    readExternalKey(settings, 'STATEMENT_KEY_NEXT', isProduction) ??
    seedSource(readOptionalKey(settings, 'STATEMENT_KEY_NEXT', isProduction))
  return { statementKey, nextStatementKey }
}

function seedSource<Seed extends Uint8Array | null>(seed: Seed): Seed extends null ? null : { seed: Uint8Array } {
  return (seed && { seed }) as Seed extends null ? null : { seed: Uint8Array } // null stays null
}

/** For comparing keys: an external key has no seed. */
export function seedOf(source: KeySource | null): Uint8Array {
  return source && 'seed' in source ? source.seed : NO_KEY
}

const SIGNER = /^(?:https?|unix|ssh-agent):/

/**
 * An external key: the address of its signer, then after `#` its public key and the token that the signer requires.
 * Null if the setting contains the key itself.
 */
function readExternalKey(settings: SettingsReader, variable: string, isProduction: boolean): ExternalKey | null {
  const text = settings.secret(variable)?.text ?? ''
  if (!SIGNER.test(text)) return null
  const [signer = '', facts = ''] = text.split('#')
  const given = new URLSearchParams(facts)
  const problem = addressProblem(signer, isProduction)
  if (problem) settings.problem(`${variable}: the address of the signer ${problem}`)
  const publicKeyHex = publicKey(settings, `${variable}: public`, given.get('public') ?? '')
  if (publicKeyHex === null)
    settings.problem(`${variable} must end with #public=<public key of the signer, 64 hex characters>`)
  return { signer, publicKeyHex: publicKeyHex ?? '', token: given.get('token') }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

function addressProblem(signer: string, isProduction: boolean): string | null {
  if (/^(?:unix|ssh-agent):\/./.test(signer)) return null
  const url = URL.parse(signer)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be http://…, https://…, unix:/path or ssh-agent:/path'
  const isOpen = url.protocol === 'http:' && !LOOPBACK.includes(url.hostname)
  return isProduction && isOpen ? 'must be https: anyone who sees its token can sign' : null
}

function publicKey(settings: SettingsReader, what: string, given: string): string | null {
  const text = given.trim().toLowerCase()
  if (text === '') return null
  if (ed25519PublicKeyFromHex(text)) return text
  settings.problem(`${what} is not an Ed25519 public key: 64 hex characters`)
  return null
}
