import type { Kysely } from 'kysely'
import type { Reader } from './open.ts'

export interface DatabaseSnapshot<Schema> {
  db: Reader<Schema>
  end(): Promise<void>
}

/** Reads the state that was committed at its start, on its own connection. For PostgreSQL. */
export async function readSnapshot<Schema>(db: Reader<Schema>): Promise<DatabaseSnapshot<Schema>> {
  // At run time a reader is a whole database; its type hides the other methods.
  const database = db as Kysely<Schema>
  const tx = await database.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  return {
    db: tx,
    async end() {
      await tx.rollback().execute()
    },
  }
}
