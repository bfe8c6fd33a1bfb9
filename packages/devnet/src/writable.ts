import type { Reader } from '@svc/database/open'
import type { Kysely, Transaction } from 'kysely'

/** For tests and seeds, which write into a database past its commits. */
export function writable<Schema>(db: Reader<Schema>): Kysely<Schema> & Transaction<Schema> {
  return db as Kysely<Schema> & Transaction<Schema>
}
