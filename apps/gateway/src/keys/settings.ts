// Where the statement key is: in a setting or a file, or with a signer elsewhere that never gives it away.

import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { type Mode, readSecret, type SettingsReader } from '@svc/service/program/config'
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
  return { recovery: publicKey(settings, 'RECOVERY_PUBLIC_KEY') }
}

export function readKeySecrets(settings: SettingsReader, mode: Mode, dataDir: string): KeySecrets {
  const isProduction = mode === 'production'
  const statementKey = readExternalKey(settings, 'STATEMENT_KEY', isProduction)
  const next = readExternalKey(settings, 'STATEMENT_KEY_NEXT', isProduction)
  const nextSeed = readOptionalKey(settings, 'STATEMENT_KEY_NEXT', isProduction)
  if (statementKey) {
    if (readSecret(settings, 'STATEMENT_KEY')) settings.problem(bothSet('STATEMENT_KEY'))
    return { statementKey, nextStatementKey: next ?? (nextSeed && { seed: nextSeed }) }
  }
  if (next && nextSeed) settings.problem(bothSet('STATEMENT_KEY_NEXT'))
  const seed = readKey(settings, { mode, dataDir, variable: 'STATEMENT_KEY', name: 'statement' })
  return { statementKey: { seed }, nextStatementKey: next ?? (nextSeed && { seed: nextSeed }) }
}

/** For comparing keys: one that is elsewhere has no seed. */
export function seedOf(source: KeySource | null): Uint8Array {
  return source && 'seed' in source ? source.seed : NO_KEY
}

function bothSet(variable: string): string {
  return `${variable} and ${variable}_SIGNER are both set: leave one of them out`
}

function readExternalKey(settings: SettingsReader, variable: string, isProduction: boolean): ExternalKey | null {
  const signer = settings.text(`${variable}_SIGNER`)
  const publicKeyHex = publicKey(settings, `${variable}_PUBLIC`)
  const token = readSecret(settings, `${variable}_SIGNER_TOKEN`)?.text ?? null
  if (!signer) return null
  const problem = addressProblem(signer, isProduction)
  if (problem) settings.problem(`${variable}_SIGNER ${problem}`)
  if (publicKeyHex === null) {
    settings.problem(`${variable}_PUBLIC is missing: the public key of the signer, 64 hex characters`)
    return null
  }
  return { signer, publicKeyHex, token }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

function addressProblem(signer: string, isProduction: boolean): string | null {
  if (/^(?:unix|ssh-agent):\/./.test(signer)) return null
  const url = URL.parse(signer)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be http://…, https://…, unix:/path or ssh-agent:/path'
  const isOpen = url.protocol === 'http:' && !LOOPBACK.includes(url.hostname)
  return isProduction && isOpen ? 'must be https: anybody who sees its token may sign' : null
}

function publicKey(settings: SettingsReader, variable: string): string | null {
  const text = settings.text(variable).trim().toLowerCase()
  if (text === '') return null
  if (ed25519PublicKeyFromHex(text)) return text
  settings.problem(`${variable} is not an Ed25519 public key: 64 hex characters`)
  return null
}
