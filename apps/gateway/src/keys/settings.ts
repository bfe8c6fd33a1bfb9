// Where the statement key is: in a setting or a file, or with a signer elsewhere that never gives it away.

import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Mode, SettingsReader } from '@svc/service/program/config'
import { NO_KEY, readKey, readOptionalKey } from '@svc/service/program/keys'

export interface KeyConfig {
  /** The public recovery key in hex, which clients pin with the others; null where there is none. */
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
  /** Takes its place when the operator says so. */
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

/** For comparing keys: one that is elsewhere has no seed. */
export function seedOf(source: KeySource | null): Uint8Array {
  return source && 'seed' in source ? source.seed : NO_KEY
}

const SIGNER = /^(?:https?|unix|ssh-agent):/

/**
 * A key that is elsewhere: the address of its signer, and behind `#` what that does not need: its public key, and a token
 * that the signer wants to see. Null where the setting holds the key itself.
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
    settings.problem(`${variable} must end in #public=<public key of the signer, 64 hex characters>`)
  return { signer, publicKeyHex: publicKeyHex ?? '', token: given.get('token') }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

function addressProblem(signer: string, isProduction: boolean): string | null {
  if (/^(?:unix|ssh-agent):\/./.test(signer)) return null
  const url = URL.parse(signer)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be http://…, https://…, unix:/path or ssh-agent:/path'
  const isOpen = url.protocol === 'http:' && !LOOPBACK.includes(url.hostname)
  return isProduction && isOpen ? 'must be https: anybody who sees its token may sign' : null
}

function publicKey(settings: SettingsReader, what: string, given: string): string | null {
  const text = given.trim().toLowerCase()
  if (text === '') return null
  if (ed25519PublicKeyFromHex(text)) return text
  settings.problem(`${what} is not an Ed25519 public key: 64 hex characters`)
  return null
}
