import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LockerRecord } from '@svc/api/lockers'
import { testClock } from '@svc/devnet/clock'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'
import { type CopiedDatabase, copyDatabase, dropBackup } from './copy-database.ts'
import { healthIn } from './health.ts'

/** Two machines: each has a logbook that the other cannot read. */
const clock = testClock(Date.now())
const owner = ed25519Identity()
let folder: string
let fresh: FreshDatabase
let database: CopiedDatabase
let first: TestGateway
let second: TestGateway
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-replicas-'))
  fresh = await createFreshDatabase('postgres')
  database = { url: fresh.url, dialect: 'postgres' }
  first = await open('first')
  second = await open('second')
})
afterAll(async () => {
  await first.close()
  await second.close()
  await dropBackup(database)
  await fresh.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Both machines have the same keys. */
const variablesOf = (machine: string) => ({
  DATA_DIR: folder,
  DATABASE_URL: fresh.url,
  LOGBOOK_DIR: join(folder, machine),
})

async function open(machine: string): Promise<TestGateway> {
  const instance = await openTestGateway(variablesOf(machine), { clock })
  await healthIn(instance.gateway, 'current')
  return instance
}

/** Revokes through either replica. */
function revoke(instance: TestGateway, { lockerId, receiptId }: TestLocker) {
  const path = `/v1/lockers/${lockerId}/revoke`
  return instance.call(owner, { method: 'POST', path, body: {}, ops: ['locker:admin'], lockerId, receiptId })
}

const heal = async (machine: string, ...options: string[]) => {
  const args = ['replay', '--reason', 'a standby took over', ...options]
  return (await runCommand(args, { SVC_MODE: 'development', ...variablesOf(machine) })).stdout
}

it('T-37 a change that one replica journaled and the database lost stops both replicas until it is healed', async () => {
  const locker = await first.locker(owner)
  await copyDatabase(database, 'live')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  expect((await revoke(first, locker)).status).toBe(200)

  await copyDatabase(database, 'backup')
  const missing = await healthIn(first.gateway, 'behind')
  expect(missing.continuity).toMatchObject({ missing_revocations: 1, awaited_logbooks: 0 })
  const waiting = await healthIn(second.gateway, 'behind')
  expect(waiting).toMatchObject({ status: 'degraded', continuity: { missing_revocations: 0, awaited_logbooks: 1 } })
  clock.advance(31)
  expectRefusal(await revoke(second, locker), 503, 'database_behind')
  expectRefusal(await second.send('POST', '/v1/storage/request', { units: 1 }), 503, 'database_behind')

  // The second machine has nothing to heal, and cannot abandon a live replica.
  expect(await heal('second', '--accept')).not.toContain('accepted as lost')
  expectRefusal(await revoke(second, locker), 503, 'database_behind')
  expect(await heal('first')).toContain('replayed 1 × change of access')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  expect((await revoke(second, locker)).status).toBe(200)
})

it('T-161 T-37 the changes of two machines are replayed in their order, whichever machine is first', {
  tags: ['nightly'],
}, async () => {
  clock.advance(60)
  const operator = ed25519Identity().identity
  const { lockerId, receiptId } = await first.locker(owner)
  const path = `/v1/lockers/${lockerId}`
  const admin = (instance: TestGateway, method: string, to: string, body?: unknown) =>
    instance.call<LockerRecord>(owner, { method, path: path + to, body, ops: ['locker:admin'], lockerId, receiptId })
  await copyDatabase(database, 'live')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  expect((await admin(second, 'POST', '/operators', { pubkey: operator })).status).toBe(200)
  // The clocks of the two differ.
  clock.advance(-20)
  expect((await admin(first, 'DELETE', `/operators/${operator}`)).status).toBe(200)

  await copyDatabase(database, 'backup')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'behind')
  for (const machine of ['first', 'second']) await heal(machine)
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  clock.advance(31)
  const record = await second.call<LockerRecord>(owner, {
    path: `${path}/record`,
    ops: ['locker:read'],
    lockerId,
    receiptId,
  })
  expect(record.body.operators).toEqual([])
})

it('T-37 another history waits for the journal of a lost machine until it is abandoned, but not for one that shut down cleanly', {
  tags: ['nightly'],
}, async () => {
  const locker = await first.locker(owner)
  const { db } = second.gateway.context.database
  const { history } = await second.gateway.context.database.server()
  await first.close()
  expect(await db.selectFrom('logbooks').select('complete_on').execute()).toEqual([{ complete_on: history }])

  const gone = { process_id: 'a process', logbook_id: 'a logbook', host: 'gone.example' }
  await writable(db)
    .insertInto('logbooks')
    .values({ ...gone, complete_on: 'another history', seen_at: Math.floor(Date.now() / 1000) - 300 })
    .execute()
  first = await openTestGateway(variablesOf('first'), { clock })
  for (const { gateway } of [first, second])
    expect((await healthIn(gateway, 'behind')).continuity).toMatchObject({ awaited_logbooks: 1 })
  expect(await heal('second', '--accept')).toContain('accepted as lost: the journal of gone.example')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  clock.advance(31)
  expect((await revoke(first, locker)).status).toBe(200)
})

it('T-37 an envelope that was used at one replica is refused by the other after the loss of its nonce', async () => {
  clock.advance(60)
  const locker = await first.locker(owner)
  await copyDatabase(database, 'live')
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
  const list = { path: `/v1/lockers/${locker.lockerId}/files`, ops: ['locker:list'], ...locker }
  const used = first.sign(owner, list).headers
  expect((await first.send('GET', list.path, undefined, used)).status).toBe(200)

  await first.close()
  await second.close()
  await copyDatabase(database, 'backup')
  // Each waits for the journal of the other.
  first = await openTestGateway(variablesOf('first'), { clock })
  second = await open('second')
  for (const instance of [first, second])
    expectRefusal(await instance.send('GET', list.path, undefined, used), 503, 'database_behind')
  clock.advance(31)
  expect((await second.call(owner, list)).status).toBe(200)
  for (const { gateway } of [first, second]) await healthIn(gateway, 'current')
})
