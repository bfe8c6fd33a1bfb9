import type { Kysely } from 'kysely'
import type { Reader } from './open.ts'

export interface DatabaseSnapshot<Schema> {
  db: Reader<Schema>
  end(): Promise<void>
}

/** Reads what was committed when it began, on a connection of its own. For PostgreSQL. */
export async function readSnapshot<Schema>(db: Reader<Schema>): Promise<DatabaseSnapshot<Schema>> {
  // A reader is a database whose other methods are not shown.
  const whole = db as Kysely<Schema>
  const tx = await whole.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  return {
    db: tx,
    async end() {
      await tx.rollback().execute()
    },
  }
}
