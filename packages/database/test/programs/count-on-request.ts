// Opens each database whose URL arrives on standard input, increments its counter in three transactions, and reports
// it.

import { createInterface } from 'node:readline'
import { writable } from '@svc/devnet/writable'
import { openDatabase } from '../../src/open.ts'
import { type JournalSchema, journalMigrations } from './journal.ts'

for await (const url of createInterface(process.stdin)) {
  const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
  for (let i = 0; i < 3; i++) {
    await writable(db)
      .transaction()
      .execute(async (trx) => {
        const { value } = await trx.selectFrom('counter').select('value').forUpdate().executeTakeFirstOrThrow()
        await trx
          .updateTable('counter')
          .set({ value: value + 1 })
          .execute()
      })
  }
  await close()
  console.log('counted')
}
