// RATE_LIMITS: the limits of several rates. Each rate has its unit, and 0 means no limit.

import { readInteger, type SettingsReader } from '@svc/service/program/config'

/** Requests per minute, by client address, by receipt and by signer. */
export interface LimitConfig {
  perAddress: number
  perReceipt: number
  perSigner: number
}

const MAX = {
  'address/min': 30_000,
  'receipt/min': 30_000,
  'signer/min': 30_000,
  'statements/day': 1_000_000,
  'anchors/hour': 1_000_000,
  'anchors/day': 1_000_000,
  'failed_payments_payer/hour': 1_000_000,
  'failed_payments_address/hour': 1_000_000,
} as const

type Rate = keyof typeof MAX
export type Rates = Readonly<Record<Rate, number>>

const RATES = Object.keys(MAX) as Rate[]
const FORM = RATES.map((rate) => rate.replace('/', '=…/')).join(', ')

/** An omitted rate has its default. */
export function readRates(settings: SettingsReader): Rates {
  const rates = {
    ...ratesOf(settings, settings.defaultOf('RATE_LIMITS').split(',')),
    ...ratesOf(settings, settings.list('RATE_LIMITS')),
  }
  return rates as Rates // the defaults contain all rates
}

function ratesOf(settings: SettingsReader, entries: readonly string[]): Partial<Rates> {
  const found = entries.map((entry): [Rate, number] | null => {
    const [, name, count = '', unit] = /^(\w+)=(\d+)\/(\w+)$/.exec(entry) ?? []
    const rate = RATES.find((candidate) => candidate === `${name}/${unit}`)
    if (rate) return [rate, readInteger(settings, `RATE_LIMITS: ${name}`, count, { min: 0, max: MAX[rate] })]
    settings.problem(`RATE_LIMITS has "${entry}", which is not one of ${FORM}`)
    return null
  })
  return Object.fromEntries(found.filter((rate) => rate !== null))
}

export function requestLimits(rates: Rates): LimitConfig {
  return { perAddress: rates['address/min'], perReceipt: rates['receipt/min'], perSigner: rates['signer/min'] }
}
