// What was bought for a locker and how much of it is used, as text for users.

import type { LockerUsage } from '@svc/sdk'
import { bytesText, counted, durationText, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

export function lockerName({ name, locker_id }: NamedLocker, isFull = false): string {
  if (name === null) return locker_id
  return isFull ? `${locker_id} (${name})` : name
}

/** `512 MiB of 1.00 GiB (50 %)` */
export function bytesOfBought({ bytes }: LockerUsage): string {
  return `${bytesText(bytes.used)} of ${bytesText(bytes.bought)} (${percent(bytes)} %)`
}

export function filesOfBought({ files }: LockerUsage): string {
  return `${count(files.used)} of ${count(files.bought)} (${percent(files)} %)`
}

function count(number: number): string {
  return number.toLocaleString('en')
}

interface Used {
  used: number
  bought: number
}

/** Rounded down, so that 100 means used up. */
function percent({ used, bought }: Used): number {
  return bought === 0 ? 100 : Math.floor((used / bought) * 100)
}

const DAY_SECONDS = 86_400

export function untilText({ expires_at }: Pick<LockerUsage, 'expires_at'>, now: number): string {
  const seconds = (Date.parse(expires_at) - now) / 1000
  // To the nearest day, so that a year that has just started has 365.
  const left = seconds > DAY_SECONDS ? Math.round(seconds / DAY_SECONDS) * DAY_SECONDS : seconds
  const distance = seconds > 0 ? `${durationText(left)} left` : `expired ${durationText(-seconds)} ago`
  return shown(`${timeText(expires_at)}, ${distance}`)
}

/** `0.25 USDC (0.25 USD) on 2026-11-16, receipt rcpt_…` */
export function paidText({ paid_amount, pay_asset, price_usd, confirmed_at, receipt_id }: Purchase): string {
  const price = price_usd === null ? '' : ` (${price_usd} USD)`
  return shown(`${paid_amount} ${pay_asset}${price} on ${confirmed_at.slice(0, 10)}, receipt ${receipt_id}`)
}

type Purchase = LockerUsage['purchases'][number]

/** The total price, as quoted. */
export function priceText({ purchases }: LockerUsage): string {
  const prices = purchases.map(({ price_usd }) => price_usd)
  if (prices.includes(null)) return '-'
  return `${Number(prices.reduce<number>((sum, price) => sum + (price ?? 0), 0).toFixed(6))} USD`
}

const REASONS: Record<NonNullable<LockerUsage['next_anchor']>['reason'], string> = {
  limit_reached: 'the locker has reached its limit for now',
  daily_budget_used: 'the daily budget is used up',
  publishing: 'in progress',
  changes: 'automatic, because files have changed',
  schedule: 'on the schedule of the gateway',
  log: 'with the next checkpoint of the log that is anchored',
}

export function anchorOutlook({ next_anchor, has_unattested_changes }: LockerUsage): string {
  if (next_anchor === null)
    return has_unattested_changes ? 'none waiting: `svc attest` makes a statement about the changes' : 'none waiting'
  const { at, reason } = next_anchor
  return shown(at === null ? REASONS[reason] : `${timeText(at)} at the earliest: ${REASONS[reason]}`)
}

const TERMS = { bytes: 'storage', files: 'file limit', egress: 'download volume' } as const
const WARN_PERCENT = 80
const WARN_DAYS = 30

/** Warns from 80 % of a limit and from 30 days before the end, each with the next step. */
export function usageWarnings(locker: NamedLocker, usage: LockerUsage, now: number): string[] {
  const name = lockerName(locker)
  const renewal = `\`svc renew ${name}\``
  const days = Math.floor((Date.parse(usage.expires_at) - now) / 86_400_000)
  const end = days < 0 ? 'has expired' : days === 0 ? 'expires within a day' : `expires in ${counted(days, 'day')}`
  const used = (['bytes', 'files', 'egress'] as const).flatMap((term) => {
    const share = percent(usage[term])
    return share >= WARN_PERCENT ? [`${name} has used ${share} % of its ${TERMS[term]}: ${renewal} adds to it`] : []
  })
  return [...(days <= WARN_DAYS ? [`${name} ${end}: ${renewal} extends it`] : []), ...used].map(shown)
}
