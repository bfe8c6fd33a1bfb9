import { hash } from 'node:crypto'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { writable } from '@svc/devnet/writable'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { secondsOf } from './bytes.ts'
import { median, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'
import { startProductionGateway } from './servers/production-gateway.ts'

const FILES = scaled(1_000_000, 50_000)
const OWNER = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const SNAPSHOTS = 10
const NEW_FILES = 100
const MEMORY_MIB = 200

type Gateway = Awaited<ReturnType<typeof startProductionGateway>>

/** Attests a large locker repeatedly, from its database rows to a durable statement. */
export async function snapshotRows(): Promise<Row[]> {
  const gateway = await startProductionGateway()
  const locker = await seedLocker(gateway.context, { owner: OWNER })
  await seedFiles(gateway.context, locker.locker_id, FILES)
  const attest = () => secondsOf(() => seedStatement(gateway.context, locker))

  const first = await withPeakMemory(attest)
  const bytesOfOne = await storedBytes(gateway)
  await addFiles(gateway, locker.locker_id, 1, 0)
  const afterOneFile = await attest()
  for (let snapshot = 1; snapshot < SNAPSHOTS; snapshot++) {
    await addFiles(gateway, locker.locker_id, NEW_FILES, snapshot)
    await attest()
  }
  const bytesOfTen = await storedBytes(gateway)
  await gateway.stop()

  const merkle = merkleSeconds()
  return [
    {
      what: `attestation of ${countText(FILES)} files`,
      measured: `${first.result.toFixed(2)} s`,
      against: `their Merkle root alone: ${merkle.toFixed(2)} s`,
      ratio: first.result / merkle,
      goal: { atMost: 1.5 },
    },
    {
      what: `attestation of ${countText(FILES)} files, after one new file`,
      measured: `${afterOneFile.toFixed(2)} s`,
      against: `the first: ${first.result.toFixed(2)} s`,
      ratio: afterOneFile / first.result,
      goal: { atMost: 1 },
    },
    {
      what: `memory while ${countText(FILES)} files are attested`,
      measured: `${first.mebibytes.toFixed(0)} MiB more than before`,
      against: `${MEMORY_MIB} MiB`,
      ratio: first.mebibytes / MEMORY_MIB,
      goal: { atMost: 1 },
    },
    {
      what: `stored after ${SNAPSHOTS} attestations, with ${NEW_FILES} new files here and there before each`,
      measured: `${(bytesOfTen / 1e6).toFixed(0)} MB`,
      against: `after one: ${(bytesOfOne / 1e6).toFixed(0)} MB`,
      ratio: bytesOfTen / bytesOfOne,
      goal: { atMost: 1.2 },
    },
  ]
}

/** Seconds from the files to their root by the Merkle rules: one hash for each leaf and each parent. */
function merkleSeconds(): number {
  const files = Array.from({ length: FILES }, (_, i) => ({
    filename: nameOf(i),
    size_bytes: i,
    content_hash: hash('sha256', `file ${i}`),
  }))
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now()
    merkleRoot(files.map(leafHash))
    return (performance.now() - start) / 1000
  })
  return median(rounds)
}

async function withPeakMemory<T>(work: () => Promise<T>): Promise<{ result: T; mebibytes: number }> {
  const before = process.memoryUsage.rss()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const result = await work()
  clearInterval(watch)
  return { result, mebibytes: (peak - before) / 1_048_576 }
}

/** Copies existing rows under names that sort between them. */
async function addFiles({ context }: Gateway, lockerId: string, count: number, round: number): Promise<void> {
  const { db } = context.database
  const rows = await db
    .selectFrom('files')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .where(
      'filename',
      'in',
      Array.from({ length: count }, () => nameOf(Math.floor(Math.random() * FILES))),
    )
    .execute()
  const copies = rows.map((row) => ({
    ...row,
    filename: `${row.filename}-${round}`,
    object_id: `${row.object_id}-${round}`,
  }))
  await writable(db)
    .transaction()
    .execute(async (tx) => {
      await tx.insertInto('files').values(copies).execute()
      await tx
        .updateTable('lockers')
        .set((eb) => ({
          manifest_version: eb('manifest_version', '+', 1),
          file_count: eb('file_count', '+', copies.length),
        }))
        .where('locker_id', '=', lockerId)
        .execute()
    })
}

/** The name of a seeded file. */
function nameOf(index: number): string {
  const number = String(index).padStart(7, '0')
  return `folder-${number.slice(0, 4)}/file-${number}.txt`
}

async function storedBytes({ context }: Gateway): Promise<number> {
  const { db } = context.database
  const chunks = await db
    .selectFrom('snapshot_chunks')
    .select(({ fn }) => fn.sum<number>(fn('length', ['content'])).as('bytes'))
    .executeTakeFirstOrThrow()
  const snapshots = await db.selectFrom('snapshots').select(['chunk_list', 'block_nodes']).execute()
  return snapshots.reduce((sum, row) => sum + row.chunk_list.length + row.block_nodes.length, chunks.bytes)
}
