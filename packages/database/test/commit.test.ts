import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forEachTest } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql, type Transaction } from 'kysely'
import { expect, it } from 'vitest'
import { createCommit, type Guard, groupWrites } from '../src/commit.ts'
import { DatabaseUnavailable } from '../src/unavailable.ts'

interface Schema {
  things: { name: string }
}

const migrations = {
  '0001-things': async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('things')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .execute()
  },
}

forEachDatabaseInGate('a commit', (database) => {
  const journal: string[] = []
  const recorded: string[] = []
  let refusal: Error | null = null
  const guard: Guard<Schema, string> = {
    async requireCurrent() {},
    assertCurrent() {
      if (refusal) throw refusal
    },
    begin: () => async (tx, entries) => {
      await sql`select 1`.execute(tx)
      recorded.push(...entries)
      return async () => void journal.push(...entries)
    },
  }
  const opened = forEachTest(async () => {
    journal.length = 0
    recorded.length = 0
    refusal = null
    const db = writable((await database.open<Schema>(migrations)).db)
    await writable(db).deleteFrom('things').execute()
    return { db, commit: createCommit<Schema, string>(db, database.dialect, guard) }
  })
  const add = (name: string) => (tx: Transaction<Schema>, recordEntries: (entry: string) => void) => {
    recordEntries(name)
    return tx.insertInto('things').values({ name }).execute()
  }
  const names = async () =>
    (await opened.db.selectFrom('things').select('name').orderBy('name').execute()).map(({ name }) => name)

  it('stores what concurrent callers wrote, and records it in the journal', async () => {
    const wanted = Array.from({ length: 30 }, (_, i) => `thing ${i + 10}`)
    await Promise.all(wanted.map((name) => opened.commit(add(name))))
    expect(await names()).toEqual(wanted)
    expect(journal.toSorted()).toEqual(wanted)
  })

  it('fails for one caller only, and undoes the writes and records of that caller', async () => {
    const first = Promise.withResolvers<void>()
    const failing = async (tx: Transaction<Schema>, recordEntries: (entry: string) => void) => {
      await add('half')(tx, recordEntries)
      await first.promise
      await add('a')(tx, recordEntries)
    }
    const outcomes = await Promise.allSettled([
      opened.commit((tx, recordEntries) => add('a')(tx, recordEntries).finally(first.resolve)),
      opened.commit(failing),
      opened.commit(async (tx) => {
        await add('given up')(tx, () => {})
        throw new Error('changed its mind')
      }),
      opened.commit(add('b')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await names()).toEqual(['a', 'b'])
    expect(journal.toSorted()).toEqual(['a', 'b'])
  })

  it('undoes the writes of a caller who fails alone', async () => {
    const failing = async (tx: Transaction<Schema>) => {
      await add('half')(tx, () => {})
      throw new Error('changed its mind')
    }
    await expect(opened.commit(failing)).rejects.toThrow('changed its mind')
    expect(await names()).toEqual([])
  })

  it('records, rejects and undoes a single statement like a transaction', async () => {
    const commit = (name: string) => opened.commit(add(name), { isOneStatement: true })
    await commit('a')
    const outcomes = await Promise.allSettled(['b', 'a', 'c'].map(commit))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    refusal = new Error('behind')
    await expect(commit('d')).rejects.toBe(refusal)
    // On PostgreSQL each has a connection: none comes before another.
    expect([await names(), journal.toSorted()]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
  })

  it('is shared by callers that arrive together, and split into one per caller when it fails', async () => {
    const shares: number[] = []
    const write = groupWrites(opened.commit, async (tx, all: readonly string[]) => {
      shares.push(all.length)
      await tx
        .insertInto('things')
        .values(all.map((name) => ({ name })))
        .execute()
      return all.map((name) => `${name} is there`)
    })
    expect(await Promise.all(['a', 'b', 'c'].map(write))).toEqual(['a is there', 'b is there', 'c is there'])
    const outcomes = await Promise.allSettled(['d', 'a', 'e'].map(write))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([await names(), shares]).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      [3, 3, 1, 1, 1],
    ])
  })

  it('is not repeated when the connection broke, so that the caller can check whether it was written', async () => {
    let runs = 0
    const broken = groupWrites(opened.commit, async () => {
      runs++
      throw new DatabaseUnavailable('the connection broke')
    })
    const outcomes = await Promise.allSettled([1, 2].map(broken))
    expect([runs, ...outcomes.map(({ status }) => status)]).toEqual([1, 'rejected', 'rejected'])
  })

  it('is rejected while the database is behind, unless `whileBehind` is set', async () => {
    refusal = new Error('behind')
    await expect(opened.commit(add('a'))).rejects.toBe(refusal)
    await opened.commit(add('b'), { whileBehind: true })
    expect(await names()).toEqual(['b'])
  })

  it('records its entries in its transaction, and fails when recording fails', async () => {
    await opened.commit(add('a'))
    expect(recorded).toEqual(['a'])
    const lost = new Error('the disk is full')
    const begin = () => () => Promise.reject(lost)
    const commit = createCommit<Schema, string>(opened.db, database.dialect, { ...guard, begin })
    await expect(commit(add('b'))).rejects.toBe(lost)
    expect([await names(), journal]).toEqual([['a'], ['a']])
  })

  it('resolves only after its entries are in the journal', async () => {
    const written = Promise.withResolvers<void>()
    const commit = createCommit<Schema, string>(opened.db, database.dialect, {
      ...guard,
      begin: () => async () => () => written.promise,
    })
    let isAnswered = false
    const answered = commit(add('a')).then(() => {
      isAnswered = true
    })
    // A later commit without entries does not wait.
    await opened.commit(async (tx) => sql`select 1`.execute(tx))
    expect([isAnswered, await names()]).toEqual([false, ['a']])
    written.resolve()
    await answered
  })
})
