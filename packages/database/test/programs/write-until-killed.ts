// Inserts rows forever and writes the number of each to standard output once its insert is acknowledged.

import { writeSync } from 'node:fs'
import { writable } from '@svc/devnet/writable'
import { openDatabase } from '../../src/open.ts'
import { type JournalSchema, journalMigrations } from './journal.ts'

const { db } = await openDatabase<JournalSchema>({ url: process.argv[2]!, migrations: journalMigrations })
for (let id = Number(process.argv[3]); ; id++) {
  await writable(db)
    .transaction()
    .execute(async (trx) => {
      await trx
        .insertInto('journal')
        .values({ entry: `first half of ${id}` })
        .execute()
      await trx
        .insertInto('journal')
        .values({ entry: `second half of ${id}` })
        .execute()
    })
  writeSync(1, `${id}\n`)
}
