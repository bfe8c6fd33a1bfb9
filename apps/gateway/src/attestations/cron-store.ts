// Which lockers are due to be attested again.

import { type NotNull, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { CronAttestConfig } from './settings.ts'

export interface DueLocker {
  receipt_id: string
  locker_id: string
  /** Of its newest statement. */
  sequence: number
}

interface Question extends Pick<CronAttestConfig, 'batchSize' | 'minAgeHours' | 'filter' | 'tiers'> {
  /** Unix seconds. */
  now: number
}

/** What failed is not tried again for so long, so that it does not stand in the way of the rest. */
const FAILURE_PAUSE_SECONDS = 3600

/** The oldest statement first. Lockers that never had one are none of these (AMB-43). */
export async function findDueLockers(db: Db, question: Question): Promise<DueLocker[]> {
  const { filter, minAgeHours, batchSize, now } = question
  const cutoff = now - minAgeHours * 3600
  const aged = attested(db, question).where('a.attested_at', '<=', cutoff)
  if (filter === 'unchanged') return aged.whereRef('l.manifest_version', '=', 'a.manifest_version').execute()
  const changed = attested(db, question)
    .where('a.attested_at', '>', cutoff)
    .whereRef('l.manifest_version', '>', 'a.manifest_version')
  return [...(await aged.execute()), ...(await changed.execute())].slice(0, batchSize)
}

function attested(db: Db, { filter, tiers, batchSize, now }: Question) {
  const tags = filter === 'opted_in' ? ['cron_attest'] : filter === 'tier' ? tiers.map((tier) => `tier:${tier}`) : []
  return db
    .selectFrom('attestations as a')
    .innerJoin('lockers as l', 'l.receipt_id', 'a.receipt_id')
    .leftJoin('cron_failures as f', 'f.receipt_id', 'a.receipt_id')
    .select(['a.receipt_id', 'a.locker_id', 'a.sequence'])
    .where('a.sequence', 'is not', null)
    .where(({ eb, or }) => or([eb('f.failed_at', 'is', null), eb('f.failed_at', '<=', now - FAILURE_PAUSE_SECONDS)]))
    .$if(tags.length > 0, (query) => query.where(({ or }) => or(tags.flatMap(isAmongTags))))
    .orderBy('a.attested_at')
    .orderBy('a.receipt_id')
    .limit(batchSize)
    .$narrowType<{ sequence: NotNull }>()
}

/** In JSON text a quote that follows a bracket or comma begins a string. `LIKE` would differ between the databases. */
function isAmongTags(tag: string) {
  const tags = sql.ref('l.tags')
  return ['[', ','].map((before) => sql<boolean>`replace(${tags}, ${before + JSON.stringify(tag)}, '') <> ${tags}`)
}

export async function recordCronFailure(db: Db, receiptId: string, at: number): Promise<void> {
  await db
    .insertInto('cron_failures')
    .values({ receipt_id: receiptId, failed_at: at })
    .onConflict((conflict) => conflict.column('receipt_id').doUpdateSet({ failed_at: at }))
    .execute()
}

export async function forgetCronFailure(db: Db, receiptId: string): Promise<void> {
  await db.deleteFrom('cron_failures').where('receipt_id', '=', receiptId).execute()
}
