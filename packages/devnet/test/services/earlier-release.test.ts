// What release 1.0.0 issued is still valid, and what it stored is upgraded by way of release 1.1.0.

import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '@svc/database/open'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { readReceipt, receiptFacts } from '@svc/verifier/receipt-facts'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { createFreshDatabase } from '../../src/databases.ts'
import { DEMO_PAYERS } from '../../src/primary-chain/dev-accounts.ts'
import { startTestAgent } from '../../src/services/agent.ts'
import { ed25519Identity, signCall } from '../../src/services/signing.ts'
import { startProcess } from '../../src/start-process.ts'
import { tableNames } from '../../src/table-names.ts'
import { writable } from '../../src/writable.ts'

const FIXTURE = new URL('./fixtures/1.0.0/', import.meta.url)
const GATEWAY = new URL('../../../../apps/gateway/bin/svc-gateway.mjs', import.meta.url)
const CLI = new URL('../../../../apps/cli/bin/svc.mjs', import.meta.url)
const UPGRADE = 'the database is older than release 1.1.0: start release 1.1.0 on it once, then start this release'

const answer = (name: string) => readFile(new URL(`answers/${name}`, FIXTURE))

async function copyOf(path: string, name = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-earlier-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(new URL(path, FIXTURE), join(folder, name), { recursive: true })
  return folder
}

const runGateway = (command: string, env: Record<string, string>) =>
  startProcess(GATEWAY, { args: [command], env: { SVC_MODE: 'development', ...env } }).ended

it('RCPT-01 EVID-11 receipts and evidence bundles of release 1.0.0 verify offline', async () => {
  const pinned = readPinnedKeys(String(await answer('keys.json')))
  if (!pinned.ok) throw new Error(pinned.problem)
  for (const chain of ['sol', 'evm']) {
    const verified = await verifyBundle([await answer(`bundle-${chain}.json`)], { pinnedKeys: pinned.keys })
    expect(verified).toMatchObject({ refused: null, failed: [] })
    const receipt = readReceipt(await answer(`receipt-${chain}.json`))
    if (verified.refused !== null || !receipt) throw new Error('cannot be read')
    const facts = receiptFacts(receipt, verified)
    for (const name of ['receipt_signature_valid', 'receipt_id_matches', 'receipt_key_pinned'] as const)
      expect(facts[name]).toEqual({ value: 'passed' })
  }
})

it('svc has the lockers that release 1.0.0 remembered', async () => {
  const folder = await copyOf('client', 'svc')
  const { stdout } = await startProcess(CLI, { args: ['lockers', '--json'], env: { XDG_CONFIG_HOME: folder } }).ended
  const kept = await readdir(join(folder, 'svc/lockers'))
  const lockers = await Promise.all(kept.map((name) => readFile(join(folder, 'svc/lockers', name), 'utf8')))
  const listed = stdout.trim().split('\n')
  expect(new Set(listed.map((line) => JSON.parse(line)))).toEqual(new Set(lockers.map((text) => JSON.parse(text))))
})

it('AGENT-03 a subscription and a delegation bought from release 1.0.0 still exist', async () => {
  const folder = await copyOf('state')
  const now = 1000 * (Number(await answer('time')) + 60)
  const agent = await startTestAgent({ DATA_DIR: join(folder, 'agent') }, { now: () => now })
  onTestFinished(() => agent.stop())
  const owner = ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)
  const { headers } = signCall(
    owner,
    { path: '/v1/delegations', ops: ['locker:read'], headers: { 'x-svc-identity': owner.identity } },
    now,
  )
  const response = await fetch(`${agent.url}/v1/delegations`, { headers })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const { delegations } = JSON.parse(text) as { delegations: { status: string }[] }
  expect(delegations).toMatchObject([{ status: 'active' }])
})

it('ADD-30 ADD-31 a SQLite database of release 1.0.0 is refused unchanged, with how to upgrade', {
  tags: ['nightly'],
}, async () => {
  const folder = await copyOf('state')
  const read = () => readFile(join(folder, 'gateway.db'))
  const before = await read()
  for (const command of ['start', 'migrate-to-postgres']) {
    const env = { DATA_DIR: folder, TARGET_DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    const { code, stderr, stdout } = await runGateway(command, env)
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(UPGRADE)])
  }
  expect(before.equals(await read())).toBe(true)
})

it('ADD-31 a PostgreSQL database of release 1.0.0 is refused unchanged, with how to upgrade', {
  tags: ['nightly'],
}, async () => {
  const source = new DatabaseSync(join(await copyOf('state'), 'gateway.db'))
  const names = source.prepare('select name from schema_migrations order by name').all()
  source.close()
  const { url, drop } = await createFreshDatabase('postgres')
  onTestFinished(drop)
  const migrations = Object.fromEntries(names.map(({ name }) => [name, async () => {}]))
  const { db, close } = await openDatabase({ url, migrations })
  onTestFinished(close)
  const { code, stderr, stdout } = await runGateway('start', { DATA_DIR: await copyOf('state'), DATABASE_URL: url })
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(UPGRADE)])
  expect(await tableNames(writable(db))).toEqual([])
  const { rows } = await sql`select name from schema_migrations order by name`.execute(db)
  expect(rows).toEqual(names)
})
