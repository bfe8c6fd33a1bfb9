import type { Reader } from '@svc/database/open'
import { writerOf } from '@svc/database/reader'
import type { Kysely, Transaction } from 'kysely'

/** For tests and seeds, which write into a database without its `commit`. */
export function writable<Schema>(db: Reader<Schema>): Kysely<Schema> & Transaction<Schema> {
  return writerOf<Schema>(db) as Kysely<Schema> & Transaction<Schema>
}
