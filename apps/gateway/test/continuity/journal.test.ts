// Failures of LOGBOOK_DIR: a full disk, a read-only folder, files of another gateway, damage.

import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCommit } from '@svc/database/commit'
import { openJournal, readJournal } from '@svc/database/journal/journal'
import { createSealing } from '@svc/database/journal/sealing'
import { openDatabase } from '@svc/database/open'
import { createFreshDatabase, forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { DocumentId } from '../../src/continuity/document-id.ts'
import type { Entry } from '../../src/continuity/documents.ts'
import { createJournaling } from '../../src/continuity/journaling.ts'
import { compareWithJournal } from '../../src/continuity/missing.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { runCommand } from '../gateway-process.ts'
import { healthIn } from './health.ts'
import { openRestorable } from './restorable.ts'

const owner = ed25519Identity()
const isRoot = process.getuid?.() === 0

forEachDatabase('a journal', ({ dialect }) => {
  async function open() {
    const fresh = await createFreshDatabase(dialect)
    const gateway = await openRestorable({ url: fresh.url, dialect })
    onTestFinished(async () => {
      await gateway.close()
      await fresh.drop()
    })
    const locker = await gateway.locker(owner)
    const logbook = join(gateway.folder, 'logbook')
    return {
      ...gateway,
      logbook,
      revoke: () => locker.call(['locker:admin'], 'POST', '/revoke', {}),
      record: () => locker.call(['locker:read'], 'GET', '/record'),
      files: async () => (await readdir(logbook)).filter((name) => name.endsWith('.journal')).sort(),
      replay: (...args: string[]) =>
        runCommand(['replay', '--reason', 'a test', ...args], { SVC_MODE: 'development', ...gateway.variables }),
    }
  }

  it('ADD-29 T-37 reports a damaged file or one of another gateway, and is replayed as far as it can be read', {
    tags: ['nightly'],
  }, async () => {
    const { exchange, revoke, files, replay, logbook, instance, folder } = await open()
    await exchange('live')
    for (let i = 0; i < 3; i++) expect((await revoke()).status).toBe(200)
    await instance().close()
    const damaged = (await files()).at(-1)!
    const lines = (await readFile(join(logbook, damaged), 'utf8')).split('\n')
    lines[2] = `${lines[2]![0] === 'A' ? 'B' : 'A'}${lines[2]!.slice(1)}`
    await writeFile(join(logbook, damaged), lines.join('\n'))
    const sealing = createSealing(Buffer.alloc(32, 9))
    const other = await openJournal({ folder: logbook, sealing, history: 'another' })
    await other.append(['of another gateway'])
    await other.close()
    const foreign = other.positions()[0]!.file

    await exchange('backup')
    const { continuity } = await healthIn(instance().gateway, 'behind')
    expect(continuity).toMatchObject({ missing_revocations: 2, missing_others: 2 })
    for (const named of [`${damaged} is damaged`, `${foreign} is sealed by another SHORT_URL_KEY`, 'move', '--accept'])
      expect(continuity?.heal).toContain(named)
    await rename(join(logbook, foreign), join(folder, foreign))

    for (const { code, stdout, stderr } of await Promise.all([replay(), replay()])) {
      expect(code, stderr).toBe(1)
      expect(stdout).toContain(`unreadable: ${damaged} is damaged`)
    }
    expectRefusal(await revoke(), 503, 'database_behind')
    const accepted = await replay('--accept')
    expect(accepted.code, accepted.stdout + accepted.stderr).toBe(0)
    await healthIn(instance().gateway, 'current')
    expect((await revoke()).status).toBe(200)
  })

  it('ADD-29 T-37 reports a file that is gone, or damaged in its first line', {
    tags: ['nightly'],
  }, async () => {
    const { exchange, revoke, files, replay, logbook, instance } = await open()
    await exchange('live')
    await healthIn(instance().gateway, 'current')
    const [gone] = await files()
    await rm(join(logbook, gone!))
    await exchange('live')
    expect((await healthIn(instance().gateway, 'behind')).continuity?.heal).toContain(`${gone} is missing or empty`)
    expectRefusal(await revoke(), 503, 'database_behind')
    expect(await replay('--accept')).toMatchObject({ code: 0 })
    await healthIn(instance().gateway, 'current')

    for (let i = 0; i < 3; i++) expect((await revoke()).status).toBe(200)
    await instance().close()
    const damaged = (await files()).at(-1)!
    const text = await readFile(join(logbook, damaged), 'utf8')
    await writeFile(join(logbook, damaged), `S${text.slice(1)}`)
    await exchange('backup')
    const { continuity } = await healthIn(instance().gateway, 'behind')
    expect(continuity).toMatchObject({ missing_revocations: 2 })
    expect(continuity?.heal).toContain(`${damaged} is damaged`)
  })

  it.runIf(isRoot)(
    'ADD-29 T-37 refuses changes on a full or read-only disk, and resumes by itself when there is space',
    async () => {
      const { instance, exchange, revoke, record, files, logbook } = await open()
      await instance().close()
      await rename(logbook, `${logbook} before`)
      await mkdir(logbook)
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', logbook]).status).toBe(0)
      onTestFinished(() => void spawnSync('umount', ['-l', logbook]))
      await cp(`${logbook} before`, logbook, { recursive: true })
      await exchange('live')
      await healthIn(instance().gateway, 'current')
      await expect(writeFile(join(logbook, 'ballast'), Buffer.alloc(100_000))).rejects.toThrow('ENOSPC')
      // Changes still succeed while they fit into the last page.
      await expect.poll(revoke, { interval: 0 }).toMatchObject({ status: 503, body: { error: 'logbook_unavailable' } })
      expect((await record()).status).toBe(200)
      const before = await files()
      for (let i = 0; i < 3; i++) expectRefusal(await revoke(), 503, 'logbook_unavailable')
      expect(await files()).toEqual(before)

      await rm(join(logbook, 'ballast'))
      expect(spawnSync('mount', ['--bind', logbook, logbook]).status).toBe(0)
      onTestFinished(() => void spawnSync('umount', ['-l', logbook]))
      expect(spawnSync('mount', ['-o', 'remount,bind,ro', logbook]).status).toBe(0)
      const refused = await revoke()
      expectRefusal(refused, 503, 'logbook_unavailable')
      expect(refused.body).toMatchObject({ message: 'the gateway cannot write its journal' })
      expect(spawnSync('umount', [logbook]).status).toBe(0)
      await expect.poll(revoke).toMatchObject({ status: 200 })
    },
  )
})

it('T-37 a commit that another server may have reverted is not acknowledged, and causes a comparison', async () => {
  const instance = await openTestGateway()
  onTestFinished(instance.close)
  const { database, log } = instance.gateway.context
  const { db } = database
  const { lockerId } = await instance.locker(owner)
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const compareAgain = vi.fn()
  const location = { folder, sealing: createSealing(Buffer.alloc(32, 1)), retentionDays: 90 }
  const journaling = createJournaling({ location, database, log, now: () => 0, compareAgain })
  await journaling.open('one server')
  const { begin } = journaling
  const guard = { begin, requireCurrent: async () => {}, assertCurrent: () => {} }
  const commit = createCommit<Schema, DocumentId>(writable(db), 'sqlite', guard)
  const refusal = 'another database server answered before this was in the journal'
  const pending = async () => (await db.selectFrom('journal_pending').select('key').execute()).map(({ key }) => key)

  const reverted = commit(async (_, recordDocuments) => {
    recordDocuments({ kind: 'locker', key: lockerId })
    journaling.switchHistory('another server')
  })
  await expect(reverted).rejects.toThrow(refusal)
  expect(compareAgain).toHaveBeenCalledOnce()

  // The read goes to a server that lags behind.
  const unread = commit(async (_, recordDocuments) => recordDocuments({ kind: 'access', key: 'a change' }))
  await expect(unread).rejects.toThrow(refusal)
  expect(compareAgain).toHaveBeenCalledTimes(2)
  expect(await pending()).toContain('a change')
  await journaling.catchUp()
  await journaling.close()
  expect(await pending()).not.toContain('a change')
})

it('T-37 the entries of a removed file are written again', async () => {
  const fresh = await createFreshDatabase('sqlite')
  const instance = await openTestGateway({ DATABASE_URL: fresh.url })
  const { lockerId } = await instance.locker(owner)
  const { log } = instance.gateway.context
  await instance.close()
  const database = await openDatabase<Schema, DocumentId>({ url: fresh.url, migrations })
  onTestFinished(async () => {
    await database.close()
    await fresh.drop()
  })
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const location = { folder, sealing: createSealing(Buffer.alloc(32, 1)), retentionDays: 90 }
  const journaling = createJournaling({ location, database, log, now: () => 0, compareAgain: () => {} })
  await journaling.open('a server')
  const entries = async () => {
    const found: string[] = []
    for await (const read of readJournal(folder, location.sealing, new Map()))
      found.push('entry' in read ? (JSON.parse(read.entry) as Entry).document.key : read.problem)
    return found
  }
  await writable(database.db).insertInto('journal_pending').values({ kind: 'locker', key: lockerId }).execute()
  await writable(database.db).deleteFrom('journal_files').execute()
  await journaling.catchUp()
  expect(await entries()).toContain(lockerId)
  for (const name of await readdir(folder)) if (name.endsWith('.journal')) await rm(join(folder, name))
  await journaling.tick()
  await journaling.close()
  expect(await entries()).toContain(lockerId)
  expect(await compareWithJournal(database.db, location)).toMatchObject({ missing: { unreadable: [] } })
})

it('ADD-29 a gateway that cannot write its journal does not start, and names LOGBOOK_DIR', async () => {
  // No user, not even root, can create a file there.
  for (const LOGBOOK_DIR of ['/proc/self', '/proc/version/journal'])
    await expect(openTestGateway({ LOGBOOK_DIR })).rejects.toThrow(
      `the folder ${LOGBOOK_DIR} cannot be written: set LOGBOOK_DIR to a writable folder`,
    )
})
