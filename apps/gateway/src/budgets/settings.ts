// What the gateway may spend on others: on publishing statements, and on x402 payments that fail. 0 means no limit.

import { coinOf } from '@svc/api/assets'
import { NETWORKS } from '@svc/api/networks'
import { displayAmount, parseDecimal } from '@svc/payments/amounts'
import { readInteger, type SettingsReader } from '@svc/service/program/config'
import type { Rates } from '../auth/rates.ts'

/** One budget for each paying key. The publication key has a separate one for its deposits in accounts. */
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
  /** Publications of one receipt. */
  anchorsPerHour: number
  anchorsPerDay: number
  /** Payments per hour that were sent but have not paid: they failed or are still pending. */
  failedPerPayer: number
  failedPerAddress: number
  /** The percentage of the daily budget for failed payments that one payer or address may use. */
  lostPercent: number
  /** For all together, from midnight to midnight UTC. */
  perDay: Record<BudgetName, number>
}

const SHARE = 'x402_share'

export function readBudgetConfig(settings: SettingsReader, rates: Rates): BudgetConfig {
  const spend = settings.pairs('SPEND_PER_DAY', [...BUDGETS, SHARE])
  const textOf = (name: BudgetName | typeof SHARE) => spend.get(name)?.at(-1) ?? '0'
  return {
    anchorsPerHour: rates['anchors/hour'],
    anchorsPerDay: rates['anchors/day'],
    failedPerPayer: rates['failed_payments_payer/hour'],
    failedPerAddress: rates['failed_payments_address/hour'],
    lostPercent: readInteger(settings, `SPEND_PER_DAY: ${SHARE}`, textOf(SHARE).replace(/%$/, ''), {
      min: 1,
      max: 100,
    }),
    perDay: Object.fromEntries(
      BUDGETS.map((name) => [name, readAmount(settings, name, textOf(name))]),
    ) as BudgetConfig['perDay'], // one for each name
  }
}

/** Lamports and gwei are both the billionth part of a coin. */
const DECIMALS = 9

function readAmount(settings: SettingsReader, name: BudgetName, text: string): number {
  const coins = coinsOf(name)
  const [, number = '', coin] = /^([0-9.]+) ?([A-Z]*)$/.exec(text) ?? []
  const { digits, scale } = parseDecimal(number) ?? { digits: -1n, scale: 0 }
  const amount = scale > DECIMALS ? -1 : Number(digits * 10n ** BigInt(DECIMALS - scale))
  const isCoin = amount === 0 || coins.some((ticker) => ticker === coin)
  if (isCoin && amount >= 0 && Number.isSafeInteger(amount)) return amount
  settings.problem(`SPEND_PER_DAY: ${name} must be an amount as in 0.5${coins[0]}, or 0 for no limit, not "${text}"`)
  return 0
}

/** The amount as the setting spells it. */
export function spendText(name: BudgetName, amount: number): string {
  return amount === 0 ? 'without a limit' : `${displayAmount(BigInt(amount), DECIMALS)}${coinsOf(name)[0]}`
}

function coinsOf(name: BudgetName): string[] {
  const family = BUDGET_UNITS[name] === 'lamports' ? 'solana' : 'evm'
  return NETWORKS.filter((network) => network.family === family).map((network) => coinOf(network).ticker)
}
