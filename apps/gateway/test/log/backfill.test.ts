import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'

const BEFORE = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0036'))

forEachDatabase('statements from before the log', (database) => {
  it('LOG-19 get their places by issue time, and those of a receipt in their order; later ones wait behind them', async () => {
    const { db: before } = await database.open<Schema>(BEFORE)
    const row = (receipt_id: string, sequence: number, issued_at: number) => ({
      receipt_id,
      sequence,
      locker_id: receipt_id,
      snapshot_key: 'snapshot',
      statement_digest: sequence === 0 ? null : `${receipt_id} ${sequence}`,
      record: '{}',
      anchor: null,
      issued_at,
    })
    const rows = [
      row('b', 0, 1),
      row('b', 1, 30),
      // The clock was set back.
      row('b', 2, 10),
      row('a', 1, 20),
      row('a', 2, 40),
      row('c', 1, 30),
    ]
    await writable(before).insertInto('statements').values(rows).execute()
    const { db } = await database.open<Schema>(migrations)
    const placed = db.selectFrom('log_entries').select(['statement_digest', 'position']).orderBy('entry_index')
    expect((await placed.execute()).map(({ statement_digest }) => statement_digest)).toEqual([
      'a 1',
      'b 1',
      'b 2',
      'c 1',
      'a 2',
    ])
    // By a release that knows nothing of the log.
    for (const sequence of [3, 4])
      await writable(before)
        .insertInto('statements')
        .values(row('b', sequence, 5))
        .execute()
    const waiting = await placed.where('entry_index', 'is', null).orderBy('position').execute()
    expect(waiting.map(({ statement_digest }) => statement_digest)).toEqual(['b 3', 'b 4'])
  })
})
