// The total received payments, added by the database. Amounts may have 78 digits, which neither engine adds exactly:
// the query adds groups of nine digits, and their sums are combined here.

import { setImmediate } from 'node:timers/promises'
import { isSqlite } from '@svc/database/prepared'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './schema.ts'

export interface ReceivedSum {
  network: string
  asset: string
  received: bigint
}

const GROUP_DIGITS = 9
const GROUPS = 9
const ZEROS = '0'.repeat(GROUP_DIGITS * GROUPS)

/** Rows that one query adds: a query blocks everything else on SQLite. */
const PAGE = 2000

interface Key {
  network: string
  tx: string
}

export async function receivedSums(db: Db, page = PAGE): Promise<ReceivedSum[]> {
  const sums = new Map<string, ReceivedSum>()
  let after: Key | null = { network: '', tx: '' }
  while (after) {
    const last: Key | null = await endOfPage(db, after, page)
    for (const { network, asset, ...groups } of await sumsBetween(db, after, last)) {
      const key = `${asset} on ${network}`
      const received = (sums.get(key)?.received ?? 0n) + combineGroups(groups)
      sums.set(key, { network, asset, received })
    }
    after = last
    await setImmediate()
  }
  return [...sums.values()]
}

/** Null on the last page. */
async function endOfPage(db: Db, after: Key, page: number): Promise<Key | null> {
  const row = await db
    .selectFrom('payment_transactions')
    .select(['network', 'tx'])
    .where(({ eb, refTuple, tuple }) => eb(refTuple('network', 'tx'), '>', tuple(after.network, after.tx)))
    .orderBy('network')
    .orderBy('tx')
    .offset(page - 1)
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

type Groups = Record<`g${number}`, number>

function sumsBetween(db: Db, after: Key, last: Key | null): Promise<({ network: string; asset: string } & Groups)[]> {
  const groups = Array.from({ length: GROUPS }, (_, i) => groupSum(db, i))
  return (
    db
      .selectFrom('payment_transactions')
      .select(['network', 'asset'])
      .select(groups.map((group, i) => group.as(`g${i}` as const)))
      // Refunds by the admin are not income.
      .where('kind', '!=', 'refund')
      .where(({ eb, refTuple, tuple }) => eb(refTuple('network', 'tx'), '>', tuple(after.network, after.tx)))
      .$if(last !== null, (query) =>
        query.where(({ eb, refTuple, tuple }) => eb(refTuple('network', 'tx'), '<=', tuple(last!.network, last!.tx))),
      )
      .groupBy(['network', 'asset'])
      .execute()
  )
}

/** The sum of one group of digits over all amounts; the first group has the highest digits. */
function groupSum(db: Db, index: number): RawBuilder<number> {
  const padded = isSqlite(db)
    ? sql`substr(${sql.lit(ZEROS)} || received, ${sql.lit(-ZEROS.length)})`
    : sql`right(${sql.lit(ZEROS)} || received, ${sql.lit(ZEROS.length)})`
  const digits = sql`substr(${padded}, ${sql.lit(index * GROUP_DIGITS + 1)}, ${sql.lit(GROUP_DIGITS)})`
  return sql<number>`cast(sum(cast(${digits} as bigint)) as bigint)`
}

function combineGroups(groups: Groups): bigint {
  const base = 10n ** BigInt(GROUP_DIGITS)
  let sum = 0n
  for (let i = 0; i < GROUPS; i++) sum = sum * base + BigInt(groups[`g${i}`] ?? 0)
  return sum
}
