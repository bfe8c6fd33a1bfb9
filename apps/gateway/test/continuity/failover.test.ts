import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase } from '@svc/devnet/databases'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { readReceipt } from '../../src/purchases/receipts.ts'
import { copyDatabase, dropBackup } from './copy-database.ts'
import { openFaultyPostgresProxy } from './faulty-postgres-proxy.ts'
import { healthIn } from './health.ts'

const CONNECTIONS = 4

async function openBehindProxy() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-failover-'))
  const fresh = await createFreshDatabase('postgres')
  const database = { url: fresh.url, dialect: 'postgres' as const }
  const proxy = await openFaultyPostgresProxy(fresh.url)
  const instance = await openTestGateway({
    DATABASE_URL: proxy.url,
    DATABASE_LIMITS: `connections=${CONNECTIONS}`,
    LOGBOOK_DIR: folder,
    RUN_JOBS: 'false',
  })
  onTestFinished(async () => {
    await instance.close()
    await proxy.close()
    await dropBackup(database)
    await fresh.drop()
    await rm(folder, { recursive: true })
  })
  return { database, proxy, instance }
}

it('T-37 T-161 a change that a failover reverts right after its commit is not acknowledged', {
  tags: ['nightly'],
}, async () => {
  const { database, proxy, instance } = await openBehindProxy()
  const { lockerId } = await instance.locker(ed25519Identity())
  await copyDatabase(database, 'live')
  await healthIn(instance.gateway, 'current')
  const { context } = instance.gateway

  proxy.failOverAfter('revocations', () => copyDatabase(database, 'backup'))
  const revoking = context.continuity.changeAccess(async (_, record) => {
    await record({ what: 'urls', locker: lockerId, epoch: 1 })
    // These queries occupy all connections, so that the commit is verified on a new one.
    for (let i = 0; i < CONNECTIONS; i++) void sql`select pg_sleep(1)`.execute(context.database.db).catch(() => {})
  })
  await expect(revoking).rejects.toThrow('another database server answered before')

  await healthIn(instance.gateway, 'current')
  const changes = await context.database.db.selectFrom('revocations').selectAll().execute()
  expect(changes).toEqual([])
})

it.each([
  ['and was noticed meanwhile', true],
  ['and is noticed only then', false],
])(
  'T-37 a receipt is not shown if a failover reverts it after it was read %s',
  {
    tags: ['nightly'],
  },
  async (_name, isNoticed) => {
    const { database, instance } = await openBehindProxy()
    const { gateway } = instance
    await copyDatabase(database, 'live')
    await healthIn(gateway, 'current')
    const { receipt_id } = await seedReceipt(gateway.context, { owner: ed25519Identity().identity })
    const { continuity } = gateway.context
    const requireWritten: typeof continuity.requireWritten = async (...ids) => {
      await copyDatabase(database, 'backup')
      if (isNoticed) await healthIn(gateway, 'current')
      return continuity.requireWritten(...ids)
    }
    const slow = { ...gateway.context, continuity: { ...continuity, requireWritten } }
    await expect(readReceipt(slow, receipt_id)).rejects.toThrow('another database server answered before')
    await healthIn(gateway, 'current')
    await expect(readReceipt(gateway.context, receipt_id)).rejects.toMatchObject({ code: 'receipt_not_found' })
  },
)
