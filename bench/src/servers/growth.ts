// A gateway on either database with one locker of many files, and many small lockers, of which some have bytes.

import { Readable } from 'node:stream'
import { sharedPostgres } from '@svc/devnet/postgres-server'
import { seedCopies, seedManyFiles } from '@svc/devnet/services/seed-bulk'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { descendantsCpuSeconds } from '../descendants.ts'
import { reportTo } from '../server-process.ts'
import { ownerSeed } from '../signed-requests.ts'
import { startProductionGateway } from './production-gateway.ts'

const SMALL_LOCKERS = 32
const SMALL_FILES = 10

const { DIALECT = 'sqlite', FILES = '0', LOCKERS = '0' } = process.env
if (DIALECT === 'postgres') process.env.DATABASE_URL = await createDatabase()
const gateway = await startProductionGateway()
const { context } = gateway
const databaseUrl = process.env.DATABASE_URL

const owner = (index: number) => toBase58(ed25519Signer(ownerSeed(index)).publicKey)
const large = await seedLocker(context, { owner: owner(0) })
await seedManyFiles(context, large, Number(FILES))

const smallReceipts: string[] = []
for (let i = 1; i <= SMALL_LOCKERS; i++) {
  const small = await seedLocker(context, { owner: owner(i) })
  await seedFiles(context, small.locker_id, SMALL_FILES)
  await writeBytes(small.locker_id, small.provider)
  await seedStatement(context, small, databaseUrl === undefined ? {} : { databaseUrl })
  smallReceipts.push(small.receipt_id)
  if (i === 1) await seedCopies(context, small, Number(LOCKERS))
}

const { locker_id, receipt_id } = large
reportTo(
  process,
  gateway.url,
  gateway.stop,
  { locker: { locker_id, receipt_id }, smallReceipts },
  descendantsCpuSeconds,
)

async function writeBytes(lockerId: string, provider: string): Promise<void> {
  const { db } = context.database
  const files = await db.selectFrom('files').select('object_id').where('locker_id', '=', lockerId).execute()
  for (const { object_id } of files) {
    const about = { contentType: 'text/plain', size: 100 }
    await context.providers.named(provider).write(object_id as string, Readable.from([Buffer.alloc(100)]), about)
  }
}

/** The database is deleted when this process ends. */
async function createDatabase(): Promise<string> {
  const server = await sharedPostgres()
  await server.execute('create database growth')
  return server.urlOf('growth')
}
