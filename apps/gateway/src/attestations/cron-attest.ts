// Attests lockers again that have changed since their last statement, or whose last statement is old (CRON-01..06).

import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { ServiceError } from '@svc/http-service/service-error'
import { unixNow } from '../context.ts'
import type { AttestationsContext } from './room.ts'
import { type DueLocker, deleteCronFailure, findDueLockers, recordCronFailure } from './store.ts'

export async function cronAttest(
  context: AttestationsContext,
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

/** Returns the error code of a failure, so that one locker does not stop the run. */
async function reattest(context: AttestationsContext, { sequence, isAged, ...locker }: DueLocker): Promise<string> {
  const { db } = context.database
  try {
    const { publish } = context.config.attestations.cron
    const { isNew } = await context.attest(locker, { replacing: isAged ? sequence : undefined, publish })
    await deleteCronFailure(db, locker.receipt_id)
    if (!isNew) return 'skipped'
    const isPublished = publish && (await context.push(locker.receipt_id)).status === 'pushed'
    return isPublished ? 'pushed' : 'attested'
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'internal_error'
    context.log.warn({ locker_id: locker.locker_id, code, err: error }, 'cannot attest a locker again')
    await recordCronFailure(db, locker.receipt_id, unixNow(context))
    return code
  }
}
