// Each envelope is accepted once, by all processes together, also after a crash.

import { batch } from '@svc/concurrency/sharing'
import type { Kysely } from 'kysely'
import type { GuardTables, NonceTable } from './tables.ts'

type Db = Kysely<GuardTables>

/** Uses up a nonce; false when it was used before. The row is durable when this resolves; many calls share a commit. */
export type UseNonce = (nonce: NonceTable) => Promise<boolean>

export function createNonces(db: Db): UseNonce {
  return batch(async (nonces: NonceTable[]) => {
    // All processes insert in one order; otherwise two that share nonces could deadlock.
    const inOrder = nonces.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const unused = new Set((await insertNonces(db, inOrder)).map(keyOf))
    // Of several equal nonces in a batch, one is accepted.
    return nonces.map((nonce) => unused.delete(keyOf(nonce)))
  })
}

export async function forgetNonces(db: Db, now: number): Promise<void> {
  await db.deleteFrom('nonces').where('forget_at', '<', now).execute()
}

/** Returns those that were not there before. */
function insertNonces(db: Db, nonces: readonly NonceTable[]): Promise<Pick<NonceTable, 'signer' | 'nonce'>[]> {
  return db
    .insertInto('nonces')
    .values(nonces)
    .onConflict((conflict) => conflict.columns(['signer', 'nonce']).doNothing())
    .returning(['signer', 'nonce'])
    .execute()
}

function keyOf({ signer, nonce }: Pick<NonceTable, 'signer' | 'nonce'>): string {
  return `${nonce} ${signer}`
}
