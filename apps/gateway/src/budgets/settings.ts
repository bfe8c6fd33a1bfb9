// What the gateway may spend on others: on publishing statements, and on x402 payments that fail. 0 means no limit.

import type { SettingsReader } from '@svc/service/program/config'

/** One for each key that pays; what the publication key deposits in accounts is counted apart from its fees. */
export const BUDGETS = ['publication', 'registry_rent', 'evm_registry', 'x402_primary', 'x402_evm'] as const
export type BudgetName = (typeof BUDGETS)[number]

export const BUDGET_UNITS: Record<BudgetName, 'lamports' | 'gwei'> = {
  publication: 'lamports',
  registry_rent: 'lamports',
  evm_registry: 'gwei',
  x402_primary: 'lamports',
  x402_evm: 'gwei',
}

export interface BudgetConfig {
  /** Of one receipt. */
  anchorsPerHour: number
  anchorsPerDay: number
  /** Payments an hour that were sent and have not paid: they failed, or are still on their way. */
  failedPerPayer: number
  failedPerAddress: number
  /** How much of what failed payments may cost in a day one payer or address may use, in percent. */
  lostPercent: number
  /** Of all together, from midnight to midnight in UTC. */
  perDay: Record<BudgetName, number>
}

const COUNT = { min: 0, max: 1_000_000 }
const AMOUNT = { min: 0, max: Number.MAX_SAFE_INTEGER }

export function readBudgetConfig(settings: SettingsReader): BudgetConfig {
  return {
    anchorsPerHour: settings.integer('ANCHORS_PER_HOUR', 12, COUNT),
    anchorsPerDay: settings.integer('ANCHORS_PER_DAY', 48, COUNT),
    failedPerPayer: settings.integer('X402_FAILED_PER_PAYER', 10, COUNT),
    failedPerAddress: settings.integer('X402_FAILED_PER_ADDRESS', 50, COUNT),
    lostPercent: settings.integer('X402_LOST_PERCENT', 10, { min: 1, max: 100 }),
    perDay: {
      publication: settings.integer('PUBLICATION_LAMPORTS_PER_DAY', 500_000_000, AMOUNT),
      registry_rent: settings.integer('SAS_RENT_LAMPORTS_PER_DAY', 1_000_000_000, AMOUNT),
      evm_registry: settings.integer('EVM_REGISTRY_GWEI_PER_DAY', 50_000_000_000, AMOUNT),
      x402_primary: settings.integer('X402_LOST_LAMPORTS_PER_DAY', 100_000_000, AMOUNT),
      x402_evm: settings.integer('X402_LOST_GWEI_PER_DAY', 10_000_000_000, AMOUNT),
    },
  }
}
