// Each envelope is accepted only once, across all processes and crashes.

import { type Commit, groupWrites } from '@svc/database/commit'
import { isSqlite, itemInteger, itemText, jsonRows, prepared } from '@svc/database/prepared'
import { sql, type Transaction } from 'kysely'
import type { GuardTables, NonceTable } from './tables.ts'

type Tx = Transaction<GuardTables>

/** Uses up a nonce; false when it was used before. The row is durable when this resolves. */
export type UseNonce = (nonce: NonceTable) => Promise<boolean>

/** `onUsed` is called with the last nonce of a batch before the callers of that batch continue. */
export function createNonces(commit: Commit<GuardTables>, onUsed: (last: NonceTable) => void = () => {}): UseNonce {
  const use = groupWrites(commit, useNonces, { whileBehind: true, isOneStatement: true })
  let used: { last: NonceTable; notified: Promise<void> } | null = null

  async function notifyUsed(): Promise<void> {
    // The callers of one batch continue in one turn.
    await null
    if (used) onUsed(used.last)
    used = null
  }

  return async (nonce) => {
    if (!(await use(nonce))) return false
    if (used) used.last = nonce
    else used = { last: nonce, notified: notifyUsed() }
    await used.notified
    return true
  }
}

async function useNonces(tx: Tx, nonces: readonly NonceTable[]): Promise<boolean[]> {
  // All processes insert in one order; otherwise two that share nonces could deadlock.
  const inOrder = nonces.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const values = inOrder.map(({ signer, nonce, forget_at }) => [signer, nonce, forget_at])
  const { rows } = await insertNonces(tx, JSON.stringify(values))
  const unused = new Set(rows.map(keyOf))
  // Only one of several equal nonces is accepted.
  return nonces.map((nonce) => unused.delete(keyOf(nonce)))
}

/**
 * Uses the earlier of this clock and the database's, which all processes share: a process whose clock is ahead must not
 * delete a nonce that the others would then accept again.
 */
export async function forgetNonces(tx: Tx, now: number): Promise<void> {
  const databaseNow = isSqlite(tx) ? sql<number>`unixepoch()` : sql<number>`extract(epoch from now())`
  await tx.deleteFrom('nonces').where('forget_at', '<', now).where('forget_at', '<', databaseNow).execute()
}

/** Returns the nonces that are new. */
const insertNonces = prepared((tx: Tx, json: string) =>
  tx
    .insertInto('nonces')
    .columns(['signer', 'nonce', 'forget_at'])
    .expression(
      tx
        .selectFrom(jsonRows(tx, json).as('item'))
        .select([itemText(0).as('signer'), itemText(1).as('nonce'), itemInteger(2).as('forget_at')])
        // Otherwise SQLite would read `on conflict` as the condition of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.columns(['signer', 'nonce']).doNothing())
    .returning(['signer', 'nonce']),
)

function keyOf({ signer, nonce }: Pick<NonceTable, 'signer' | 'nonce'>): string {
  return `${nonce} ${signer}`
}
