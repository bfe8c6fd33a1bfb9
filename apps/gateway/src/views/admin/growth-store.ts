import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db, GrowthSampleTable, Locker, Tx } from '../../db/schema.ts'

export interface LockerTotals {
  lockers: number
  files: number
  bytes: number
}

const LOCKERS_AT_ONCE = 5000

/** In steps: SQLite would block the whole process while it adds up a million rows. */
export async function addUpLockers(db: Db): Promise<LockerTotals> {
  const totals = { lockers: 0, files: 0, bytes: 0 }
  for (let after = ''; ; ) {
    const page = db
      .selectFrom('lockers')
      .select(['locker_id', 'file_count', 'total_bytes', 'unconfirmed_bytes'])
      .where('locker_id', '>', after)
      .orderBy('locker_id')
      .limit(LOCKERS_AT_ONCE)
    const sums = await db
      .selectFrom(page.as('page'))
      .select(({ fn }) => [
        fn.countAll<number>().as('lockers'),
        sql<number>`coalesce(sum(file_count), 0)`.as('files'),
        sql<number>`coalesce(sum(total_bytes + unconfirmed_bytes), 0)`.as('bytes'),
        fn.max('locker_id').as('last'),
      ])
      .executeTakeFirstOrThrow()
    totals.lockers += sums.lockers
    totals.files += sums.files
    totals.bytes += sums.bytes
    if (sums.lockers < LOCKERS_AT_ONCE) return totals
    after = sums.last
    await setImmediate()
  }
}

export async function countRestricted(db: Db): Promise<{ frozen: number; taken_down: number }> {
  const rows = await db
    .selectFrom('lockers')
    .select(({ fn }) => ['restriction', fn.countAll<number>().as('count')])
    .where('restriction', 'is not', null)
    .groupBy('restriction')
    .execute()
  const of = (state: Locker['restriction']) => rows.find(({ restriction }) => restriction === state)?.count ?? 0
  return { frozen: of('frozen'), taken_down: of('taken_down') }
}

/** There is one sample for each hour. */
export async function insertSample(tx: Tx, sample: GrowthSampleTable): Promise<void> {
  await tx
    .insertInto('growth_samples')
    .values(sample)
    .onConflict((conflict) => conflict.column('sampled_at').doNothing())
    .execute()
}

/** Keeps only the first sample of each day before `before`. */
export async function thinSamples(tx: Tx, before: number): Promise<void> {
  const day = sql`sampled_at / 86400`
  await tx
    .deleteFrom('growth_samples')
    .where('sampled_at', '<', before)
    .where('sampled_at', 'not in', (eb) =>
      eb
        .selectFrom('growth_samples')
        .select(({ fn }) => fn.min<number>('sampled_at').as('first'))
        .groupBy(day),
    )
    .execute()
}

export function samplesBetween(db: Db, from: number, to: number): Promise<GrowthSampleTable[]> {
  const samples = db.selectFrom('growth_samples').selectAll().where('sampled_at', '>=', from)
  return samples.where('sampled_at', '<', to).orderBy('sampled_at').execute()
}
