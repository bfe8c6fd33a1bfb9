import { hash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase } from '@svc/devnet/databases'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { lockerRow } from './files.ts'

const PROGRAM = new URL('./programs/store-until-killed.ts', import.meta.url)
const HOUR = 3600
/** More steps than storing needs. */
const MAX_STEPS = 100

it('T-17 FILE-15 storing bytes, killed before any of its steps, leaves the old file or the new one and no orphan', {
  tags: ['nightly'],
}, async () => {
  const database = await createFreshDatabase('sqlite')
  onTestFinished(database.drop)
  const folder = await mkdtemp(join(tmpdir(), 'svc-killed-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const variables = { DATABASE_URL: database.url, STORAGE_DIR: join(folder, 'files'), STATEMENT_KEY: '07'.repeat(32) }
  const successor = await openTestGateway(variables)
  onTestFinished(successor.close)
  const locker = await successor.locker(ed25519Identity())
  let current = 'the first'
  await locker.put('a', current)

  const outcomes: ('old' | 'new')[] = []
  for (let killedAt = 1; killedAt <= MAX_STEPS; killedAt++) {
    const next = `stored by attempt ${killedAt}`
    const victim = startProcess(PROGRAM, {
      args: [String(killedAt), String(successor.clock.now()), locker.lockerId, 'a', next],
      env: {
        ...variables,
        SVC_MODE: 'development',
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: folder,
        LOG_LEVEL: 'silent',
        RUN_JOBS: 'false',
      },
    })
    const { signal, stdout, stderr } = await victim.ended
    if (stdout.includes('stored')) break
    expect(signal, stderr).toBe('SIGKILL')
    const { text, file } = await read()
    expect([current, next]).toContain(text)
    outcomes.push(text === next ? 'new' : 'old')
    current = text
    expect(file).toMatchObject({ size_bytes: text.length, content_hash: `sha256:${hash('sha256', text)}` })
    expect(await lockerRow(successor, locker)).toMatchObject({
      file_count: 1,
      total_bytes: text.length,
      unconfirmed_bytes: 0,
    })
  }
  // The runs were killed on both sides of the commit.
  expect(outcomes.length).toBeLessThan(MAX_STEPS)
  expect(outcomes.toSorted((a, b) => b.localeCompare(a))).toEqual(outcomes)
  expect(new Set(outcomes)).toEqual(new Set(['old', 'new']))

  successor.clock.advance(50 * HOUR)
  await sweepObjects(successor.gateway.context)
  const stored = await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true })
  expect(stored.filter((entry) => entry.isFile())).toHaveLength(1)

  async function read() {
    const text = (await fetch(`${successor.gateway.url}/v1/r/${locker.receiptId}/f/a`)).text()
    const list = await locker.call<{ files: object[] }>(['locker:list'], 'GET', '/files')
    return { text: await text, file: list.body.files[0] }
  }
})
