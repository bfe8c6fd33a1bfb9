// Settings of anchors: whether, how and at what cost statements are published on the primary chain.

import { fromBase58 } from '@svc/protocol/bytes'
import { DEFAULT_CREDENTIAL_NAME } from '@svc/protocol/registry'
import { readInteger, type SettingsReader } from '@svc/service/program/config'
import { readWait } from '../purchases/settings.ts'

export interface AnchorConfig {
  /** `memo` alone, or with an account in the attestation registry. */
  kind: 'memo' | 'registry' | 'off'
  /** Whether anything is published on the primary chain. */
  isOn: boolean
  /** Whether attesting also publishes. */
  isAutomatic: boolean
  /** Whether payment codes are published, too. */
  includesPayments: boolean
  memoProgram: string
  /** How often the newest checkpoint of the log is published; 0 for never. */
  logSeconds: number
  /** How long a caller waits for the chain to confirm. */
  waitSeconds: number
  /** The price offered for each compute unit; 0 pays the base fee only. */
  priorityMicroLamports: number
  registry: RegistryConfig
  /** Below this, health warns that publishing will stop. */
  lowBalanceLamports: number
}

export interface RegistryConfig {
  mode: 'latest' | 'per_snapshot'
  /** 0: accounts do not expire. */
  lifetimeSeconds: number
  credentialName: string
}

/** Memo version 3, which explorers show and wallets write. */
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const TEN_YEARS = 315_360_000
/** The longest seed of a program-derived address. */
const MAX_NAME_BYTES = 32

const ANCHOR_KEYS = ['registry', 'lifetime_seconds', 'credential', 'priority', 'low_balance', 'memo_program'] as const
type AnchorKey = (typeof ANCHOR_KEYS)[number]
const ANCHOR_DEFAULTS: Record<AnchorKey, string> = {
  registry: 'latest',
  lifetime_seconds: '0',
  credential: DEFAULT_CREDENTIAL_NAME,
  priority: '0',
  low_balance: '50000000',
  memo_program: MEMO_PROGRAM,
}

/** `hasNodes`: whether nodes of the publication chain are configured. */
export function readAnchorConfig(settings: SettingsReader, hasNodes: boolean): AnchorConfig {
  const [kind, given] = settings.choice('ANCHORS', ['memo', 'registry', 'off'], ANCHOR_KEYS)
  const published = settings.list('PUBLISH')
  if (published.some((what) => !PUBLISHED.includes(what)))
    settings.problem(`PUBLISH must be ${PUBLISHED.slice(0, 2).join(', ')} or both, or on_request`)
  const option = (key: AnchorKey) => given.get(key)?.at(-1) ?? ANCHOR_DEFAULTS[key]
  const amount = (key: AnchorKey, max: number) => readInteger(settings, `ANCHORS: ${key}`, option(key), { min: 0, max })
  const mode = option('registry')
  if (mode !== 'latest' && mode !== 'per_snapshot')
    settings.problem(`ANCHORS: registry must be latest or per_snapshot, not "${mode}"`)
  return {
    kind,
    isOn: kind !== 'off' && hasNodes,
    isAutomatic: published.includes('statements'),
    includesPayments: published.includes('payments'),
    memoProgram: memoProgram(settings, option('memo_program')),
    logSeconds: settings.integer('LOG_ANCHOR_SECONDS', { min: 0, max: 604_800 }),
    waitSeconds: readWait(settings, 'anchor'),
    priorityMicroLamports: amount('priority', 100_000_000),
    registry: {
      mode: mode === 'per_snapshot' ? mode : 'latest',
      lifetimeSeconds: amount('lifetime_seconds', TEN_YEARS),
      credentialName: credentialName(settings, option('credential')),
    },
    lowBalanceLamports: amount('low_balance', Number.MAX_SAFE_INTEGER),
  }
}

const PUBLISHED = ['statements', 'payments', 'on_request']

function memoProgram(settings: SettingsReader, program: string): string {
  if (!fromBase58(program, 32)) settings.problem(`ANCHORS: memo_program is not an address: "${program}"`)
  return program
}

function credentialName(settings: SettingsReader, name: string): string {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    settings.problem(`ANCHORS: credential must be 1 to ${MAX_NAME_BYTES} bytes`)
  return name
}
