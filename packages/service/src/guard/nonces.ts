// Each envelope is accepted once, by all processes together, also after a crash.

import { type Commit, together } from '@svc/database/commit'
import { isSqlite, itemInteger, itemText, jsonRows, prepared } from '@svc/database/prepared'
import { sql, type Transaction } from 'kysely'
import type { GuardTables, NonceTable } from './tables.ts'

type Tx = Transaction<GuardTables>

/** Uses up a nonce; false when it was used before. The row is durable when this resolves. */
export type UseNonce = (nonce: NonceTable) => Promise<boolean>

/** `onUsed` is called with the last of those that were used together, before their callers go on. */
export function createNonces(commit: Commit<GuardTables>, onUsed: (last: NonceTable) => void = () => {}): UseNonce {
  const use = together(commit, useNonces, { whileBehind: true, isOneStatement: true })
  let used: { last: NonceTable; isKept: Promise<void> } | null = null

  async function keep(): Promise<void> {
    // Those that were used together go on in one turn.
    await null
    if (used) onUsed(used.last)
    used = null
  }

  return async (nonce) => {
    if (!(await use(nonce))) return false
    if (used) used.last = nonce
    else used = { last: nonce, isKept: keep() }
    await used.isKept
    return true
  }
}

async function useNonces(tx: Tx, nonces: readonly NonceTable[]): Promise<boolean[]> {
  // All processes insert in one order; otherwise two that share nonces could deadlock.
  const inOrder = nonces.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const values = inOrder.map(({ signer, nonce, forget_at }) => [signer, nonce, forget_at])
  const { rows } = await insertNonces(tx, JSON.stringify(values))
  const unused = new Set(rows.map(keyOf))
  // Of several equal nonces, one is accepted.
  return nonces.map((nonce) => unused.delete(keyOf(nonce)))
}

/**
 * Also by the clock of the database, which all processes share: one whose own clock is ahead must not forget what the
 * others would then accept again.
 */
export async function forgetNonces(tx: Tx, now: number): Promise<void> {
  const databaseNow = isSqlite(tx) ? sql<number>`unixepoch()` : sql<number>`extract(epoch from now())`
  await tx.deleteFrom('nonces').where('forget_at', '<', now).where('forget_at', '<', databaseNow).execute()
}

/** Returns those that were not there before. */
const insertNonces = prepared((tx: Tx, json: string) =>
  tx
    .insertInto('nonces')
    .columns(['signer', 'nonce', 'forget_at'])
    .expression(
      tx
        .selectFrom(jsonRows(tx, json).as('item'))
        .select([itemText(0).as('signer'), itemText(1).as('nonce'), itemInteger(2).as('forget_at')])
        // SQLite would otherwise take `on conflict` for the condition of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.columns(['signer', 'nonce']).doNothing())
    .returning(['signer', 'nonce']),
)

function keyOf({ signer, nonce }: Pick<NonceTable, 'signer' | 'nonce'>): string {
  return `${nonce} ${signer}`
}
