import type { Kysely } from 'kysely'
import type { GuardTables, NonceTable } from './tables.ts'

type Db = Kysely<GuardTables>

/** Those of them that were not there before. */
export function insertNonces(db: Db, nonces: readonly NonceTable[]): Promise<Pick<NonceTable, 'signer' | 'nonce'>[]> {
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
