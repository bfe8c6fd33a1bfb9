// Attests lockers again that have changed since their last statement, or whose last statement is old, and publishes
// what an earlier run could not (CRON-01..06).

import type { PushResult } from '@svc/api/attestations'
import { ERROR_STATUS, type ErrorCode } from '@svc/api/errors'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import { attest } from '../evidence/attest.ts'
import { secondsToWait } from '../evidence/budget.ts'
import { type DueLocker, deleteCronFailure, findDueLockers, recordCronFailure } from '../evidence/store.ts'
import { publishNewest } from './push.ts'

/** A locker that failed waits this many seconds, so that it does not block the others. */
const PAUSE = { retryable: 60, permanent: 3600 }

export async function cronAttest(
  context: Context,
  { dry_run: isDryRun = false }: { dry_run?: boolean },
): Promise<CronAttestAnswer> {
  const { cron } = context.config.attestations
  const due = cron.isEnabled ? await findDueLockers(context.database.db, { ...cron, now: unixNow(context) }) : []
  const results: CronAttestAnswer['results'] = []
  for (const locker of due) {
    results.push({ receipt_id: locker.receipt_id, status: isDryRun ? 'due' : await reattest(context, locker) })
  }
  const count = (status: string) => results.filter((result) => result.status === status).length
  const [attested, skipped] = [count('attested') + count('pushed'), count('skipped')]
  return {
    ok: true,
    enabled: cron.isEnabled,
    selected: due.length,
    attested,
    pushed: count('pushed'),
    skipped,
    failed: due.length - attested - skipped - count('due'),
    results,
  }
}

/** Throws if a locker may succeed when the scheduler calls again soon (INT-05). */
export function answerCron(run: CronAttestAnswer): CronAttestAnswer {
  const code = run.results.map(({ status }) => status).find(isRetryable)
  if (!code) return run
  throw new ServiceError(code, `${run.failed} of ${run.selected} lockers could not be attested again or published`, {
    hint: 'call again after a minute; attested lockers are published but not attested twice',
    headers: { 'retry-after': String(PAUSE.retryable) },
    details: run,
  })
}

function isRetryable(status: string): status is ErrorCode {
  return status in ERROR_STATUS && ERROR_STATUS[status as ErrorCode] >= 500
}

/** Returns the error code of a failure, so that one locker does not stop the run. */
async function reattest(
  context: Context,
  { sequence, isAged, isPushDue, anchoring, ...locker }: DueLocker,
): Promise<string> {
  const { commit } = context.database
  try {
    const publish = context.config.attestations.cron.publish && anchoring === 'each'
    if (!isPushDue) {
      const successor = isAged ? { replacing: sequence } : { isLimited: true }
      const { isNew } = await attest(context, locker, { ...successor, publish })
      await commit((tx) => deleteCronFailure(tx, locker.receipt_id))
      if (!isNew) return 'skipped'
    }
    return publish ? statusAfter(await publishNewest(context, locker.receipt_id)) : 'attested'
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'internal_error'
    context.log.warn({ locker_id: locker.locker_id, code, err: error }, 'cannot attest a locker again')
    const failed_at = unixNow(context)
    const pause = secondsToWait(error) ?? (isRetryable(code) ? PAUSE.retryable : PAUSE.permanent)
    await commit((tx) => recordCronFailure(tx, locker.receipt_id, { failed_at, retry_at: failed_at + pause }))
    return code
  }
}

/** A failed push may have a code, because it may succeed later, or none. Its job continues in both cases. */
function statusAfter({ status, error }: PushResult): string {
  if (status === 'failed') return error?.retryable ? ('anchor_failed' satisfies ErrorCode) : 'not_published'
  return status === 'pushed' ? 'pushed' : 'attested'
}
