// Settings of anchors: whether, how and at what cost statements are published on the primary chain.

import { fromBase58 } from '@svc/protocol/bytes'
import { DEFAULT_CREDENTIAL_NAME } from '@svc/protocol/registry'
import type { SettingsReader } from '@svc/service/program/config'

export interface AnchorConfig {
  /** `memo` alone, or with an account in the attestation registry. */
  kind: 'memo' | 'registry' | 'off'
  /** Whether anything is published on the primary chain. */
  isOn: boolean
  /** Whether attesting publishes by itself. */
  isAutomatic: boolean
  /** Whether the codes of payments are published, too. */
  includesPayments: boolean
  memoProgram: string
  /** How often the newest checkpoint of the log is published; 0: never. */
  logSeconds: number
  /** How long a caller waits for the chain to confirm. */
  waitSeconds: number
  /** Offered for each compute unit; 0 pays the base fee only. */
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

/** Memo version 3: what explorers show and wallets write. */
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const TEN_YEARS = 315_360_000
/** The longest seed of a program-derived address. */
const MAX_NAME_BYTES = 32

/** `hasNodes`: of the chain that statements are published on. */
export function readAnchorConfig(settings: SettingsReader, hasNodes: boolean): AnchorConfig {
  const kind = settings.oneOf('ANCHOR_KIND', ['memo', 'registry', 'off'], 'memo')
  return {
    kind,
    isOn: kind !== 'off' && hasNodes,
    isAutomatic: settings.oneOf('ATTEST_PUSH', ['true', 'false'], 'true') === 'true',
    includesPayments: settings.oneOf('PAYMENT_ATTEST_PUSH', ['true', 'false'], 'false') === 'true',
    memoProgram: memoProgram(settings),
    logSeconds: settings.integer('LOG_ANCHOR_SECONDS', 3600, { min: 0, max: 604_800 }),
    waitSeconds: settings.integer('ANCHOR_WAIT_SECONDS', 30, { min: 0, max: 300 }),
    priorityMicroLamports: settings.integer('ANCHOR_PRIORITY_MICROLAMPORTS', 0, { min: 0, max: 100_000_000 }),
    registry: {
      mode: settings.oneOf('SAS_MODE', ['latest', 'per_snapshot'], 'latest'),
      lifetimeSeconds: settings.integer('SAS_LIFETIME_SECONDS', 0, { min: 0, max: TEN_YEARS }),
      credentialName: credentialName(settings),
    },
    lowBalanceLamports: settings.integer('PUBLICATION_LOW_BALANCE_LAMPORTS', 50_000_000, {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
  }
}

function memoProgram(settings: SettingsReader): string {
  const program = settings.text('MEMO_PROGRAM', MEMO_PROGRAM)
  if (!fromBase58(program, 32)) settings.problem(`MEMO_PROGRAM is not an address: "${program}"`)
  return program
}

function credentialName(settings: SettingsReader): string {
  const name = settings.text('SAS_CREDENTIAL_NAME', DEFAULT_CREDENTIAL_NAME)
  const bytes = Buffer.byteLength(name)
  if (bytes === 0 || bytes > MAX_NAME_BYTES)
    settings.problem(`SAS_CREDENTIAL_NAME must be 1 to ${MAX_NAME_BYTES} bytes`)
  return name
}
