import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { publicBytes } from '../adapters/http/sessions/sessions.ts'
import { attest } from '../evidence/attest.ts'
import { runCommand } from '../gateway-process.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-backup-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const data = () => join(folder, 'data')
const backups = () => join(folder, 'backups')
const backup = (variables: Record<string, string> = {}, ...args: string[]) =>
  runCommand(['backup', '--to', backups(), ...args], { SVC_MODE: 'development', DATA_DIR: data(), ...variables })

it('ADD-63 a backup that is made while the gateway writes restores to a working database', {
  tags: ['nightly'],
}, async () => {
  const before = await openTestGateway({ DATA_DIR: data() })
  const locker = await before.locker(ed25519Identity())
  await locker.put('a.txt', 'in the backup')
  const { context } = before.gateway
  let isOver = false
  let written = 0
  const writing = (async () => {
    while (!isOver) {
      const { locker_id } = await seedLocker(context, { owner: locker.owner.identity })
      await seedFiles(context, locker_id, 20)
      written++
    }
  })()
  await expect.poll(() => written).toBeGreaterThan(3)
  const atStart = written
  await mkdir(backups())
  for (const name of ['notes.db', 'gateway-2026-01-01T000000.000Z.db']) await writeFile(join(backups(), name), '')
  const { code, stdout, stderr } = await backup({}, '--keep', '1')
  const atEnd = written
  isOver = true
  await writing
  expect(code, stderr).toBe(0)
  expect(atEnd).toBeGreaterThan(atStart)
  const [name = '', ...others] = (await readdir(backups())).sort()
  expect(others).toEqual(['notes.db'])
  const file = join(backups(), name)
  expect(stdout).toBe(`Backup: ${file} (1 older removed)\n`)
  expect(stderr).toContain(`Copy ${join(data(), 'files')} now`)
  expect(stderr).toContain(`the journal ${join(data(), 'logbook')}`)
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
  await before.close()

  const copy = new DatabaseSync(file)
  expect(copy.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(copy.prepare('pragma foreign_key_check').all()).toEqual([])
  const { count } = copy.prepare('select count(*) as count from lockers').get() as { count: number }
  expect(count).toBeGreaterThanOrEqual(atStart)
  copy.close()

  // The database is lost; the keys, the journal, the log and the files are not.
  for (const suffix of ['', '-wal', '-shm']) await rm(join(data(), `gateway.db${suffix}`), { force: true })
  await copyFile(file, join(data(), 'gateway.db'))
  const replayed = await runCommand(['replay', '--reason', 'disk failure'], {
    SVC_MODE: 'development',
    DATA_DIR: data(),
  })
  expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0)
  const after = await openTestGateway({ DATA_DIR: data() })
  expect(String(await publicBytes(after, locker, 'a.txt'))).toBe('in the backup')
  expect((await attest(after, locker)).attestation_status).not.toBe('pending')
  await after.close()
})

it('ADD-63 a backup of PostgreSQL is made by pg_dump, which does not get the password as an argument', async () => {
  // Writes its arguments and the password to the dump.
  const program = join(folder, 'pg_dump')
  await writeFile(program, '#!/bin/sh\necho "$PGPASSWORD $3 $1" > "$' + '{2#--file=}"\nexit "$EXIT"\n')
  await chmod(program, 0o755)
  const DATABASE_URL = 'postgres://svc:pass%2Fword@db.internal/svc?sslmode=require'
  const variables = { DATABASE_URL, PATH: `${folder}:${process.env.PATH}` }
  expect(await backup({ ...variables, EXIT: '0' })).toMatchObject({ code: 0 })
  const [name = ''] = await readdir(backups())
  expect(name).toMatch(/\.dump$/)
  expect(await readFile(join(backups(), name), 'utf8')).toBe(
    'pass/word --dbname=postgres://svc@db.internal/svc?sslmode=require --format=custom\n',
  )
  const failed = await backup({ ...variables, EXIT: '1' })
  expect([failed.code, failed.stderr]).toEqual([1, 'pg_dump failed: there is no backup\n'])
  const missing = await backup({ DATABASE_URL, PATH: backups(), EXIT: '0' })
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('install the client of PostgreSQL')])
  expect(await readdir(backups())).toEqual([name])
})

it('svc-gateway backup without a folder shows its usage', async () => {
  const { code, stderr } = await runCommand(['backup'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('usage: svc-gateway backup --to FOLDER')])
})
