import type { LockerUsage } from '@svc/api/usage'
import { texts } from '#texts/locker'

const t = texts.usage

const WARN_PERCENT = 80
const WARN_DAYS = 30

export interface Term {
  used: number
  bought: number
}

/** Warns from 80 % and from 30 days before the end, like the command line. */
export function usageWarnings(
  usage: Pick<LockerUsage, 'expires_at' | 'bytes' | 'files' | 'egress'>,
  now: number,
): string[] {
  const days = Math.floor((Date.parse(usage.expires_at) - now) / 86_400_000)
  const used = (['bytes', 'files', 'egress'] as const).flatMap((term) => {
    const share = percentOf(usage[term])
    return share >= WARN_PERCENT ? [t.used(share, t.terms[term])] : []
  })
  return [...(days <= WARN_DAYS ? [t.ends(days)] : []), ...used]
}

/** Rounded down, so that 100 means all of it. */
export function percentOf({ used, bought }: Term): number {
  return bought === 0 ? 100 : Math.floor((used / bought) * 100)
}
