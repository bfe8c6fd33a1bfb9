// Each envelope is good once, in all processes together, also after a crash.

import { batch } from '@svc/concurrency/sharing'
import type { Kysely } from 'kysely'
import type { GuardTables, NonceTable } from './tables.ts'

/** Uses up a nonce; false when it is used up already. Durable when it resolves; many share a commit. */
export type UseNonce = (nonce: NonceTable) => Promise<boolean>

export function createNonces(db: Kysely<GuardTables>): UseNonce {
  return batch(async (nonces: NonceTable[]) => {
    // One order everywhere: processes that have nonces in common would else wait for each other.
    const inOrder = nonces.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const unused = new Set((await insertNonces(db, inOrder)).map(keyOf))
    // Of several equal ones in a batch, one counts.
    return nonces.map((nonce) => unused.delete(keyOf(nonce)))
  })
}

function keyOf({ signer, nonce }: Pick<NonceTable, 'signer' | 'nonce'>): string {
  return `${nonce} ${signer}`
}

type Db = Kysely<GuardTables>

/** Those of them that were not there before. */
function insertNonces(db: Db, nonces: readonly NonceTable[]): Promise<Pick<NonceTable, 'signer' | 'nonce'>[]> {
  return db
    .insertInto('nonces')
    .values(nonces)
    .onConflict((conflict) => conflict.columns(['signer', 'nonce']).doNothing())
    .returning(['signer', 'nonce'])
    .execute()
}

export async function forgetNonces(db: Db, now: number): Promise<void> {
  await db.deleteFrom('nonces').where('forget_at', '<', now).execute()
}
