// Limits how many statements the owner of a locker can cause (T-34), because each is stored permanently. A locker may
// use the statements of a whole day at once and regains them evenly (GCRA). Its row in `attestations`, which is locked
// while a statement is written, stores the single number that this needs.

import type { Provider } from '@svc/api/providers'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import type { AttestationTable, Locker } from '../db/schema.ts'
import { termsOf, unitsOf } from '../lockers/terms.ts'

type Parts = Pick<Context, 'config' | 'now'>

const DAY_MS = 86_400_000

/** The new value of `whole_budget_at`. Throws RATE_LIMITED if no statement is left. */
export function reserveStatement(
  { config, now }: Parts,
  locker: Locker,
  { whole_budget_at }: Pick<AttestationTable, 'whole_budget_at'>,
): number | null {
  const { perUnitAndDay } = config.attestations
  if (perUnitAndDay === 0) return null
  const perDay = perUnitAndDay * unitsOf(termsOf(locker), config.payments.terms[locker.provider as Provider])
  const time = now()
  // The clock may have been set back since.
  const before = Math.min(Math.max(whole_budget_at ?? 0, time), time + DAY_MS)
  const after = before + Math.ceil(DAY_MS / perDay)
  if (after > time + DAY_MS) throw usedUp(perDay, after - DAY_MS - time)
  return after
}

function usedUp(perDay: number, waitMs: number): ServiceError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ServiceError('RATE_LIMITED', `the locker has used its ${perDay} statements per day`, {
    hint: `attest again in ${seconds} s: one statement covers all changes until then; a locker with more units has more statements`,
    headers: { 'retry-after': `${seconds}` },
    details: { limit_per_day: perDay, retry_after_seconds: seconds },
  })
}

/** After how many seconds a statement is left; null for any other error. */
export function secondsToWait(error: unknown): number | null {
  return error instanceof ServiceError && error.code === 'RATE_LIMITED' ? Number(error.headers['retry-after']) : null
}
