// `node signed-throughput.ts <sqlite|postgres> <processes>`: a database, the gateway as a program, and signed requests to
// it, all in processes that this one starts. Prints requests per second of wall-clock time and what they cost.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createFreshDatabase } from '@svc/devnet/databases'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Program, startGatewayProgram } from '../gateway-program.ts'
import { sendAll } from '../raw-load.ts'
import { median } from '../row.ts'
import { type BenchLocker, ownerSeed, requestSigner } from '../signed-requests.ts'
import { startProductionGateway } from './production-gateway.ts'

const LOCKERS = 200
const REQUESTS = 4000
const ROUNDS = 3
/** Long enough for all processes to start. */
const SETTLE_MS = 2000
/** The unit of processor times in /proc. */
const TICKS_PER_SECOND = 100

export interface Throughput {
  perSecond: number
  /** Processor time of the gateway's processes. */
  cpuMicroseconds: number
}

const [dialect, processes = '1'] = process.argv.slice(2) as ['sqlite' | 'postgres', string]
const database = await createFreshDatabase(dialect)
const lockers = await seed(database.url)
const folder = await mkdtemp(join(tmpdir(), 'svc-cores-'))
const gateway = await startGatewayProgram({ DATABASE_URL: database.url, DATA_DIR: folder, PROCESSES: processes })
try {
  await setTimeout(SETTLE_MS)
  console.log(JSON.stringify(await measure(gateway)))
} finally {
  await gateway.stop()
  await rm(folder, { recursive: true })
  await database.drop()
}
// The database server would keep this process alive.
process.exit()

async function measure({ url, pid }: Program): Promise<Throughput> {
  await sendAll(url, signed(url))
  const rates: number[] = []
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const requests = signed(url)
    const before = cpuSeconds(pid)
    rates.push(REQUESTS / (await sendAll(url, requests)))
    costs.push(((cpuSeconds(pid) - before) / REQUESTS) * 1e6)
  }
  return { perSecond: median(rates), cpuMicroseconds: median(costs) }
}

async function seed(url: string): Promise<BenchLocker[]> {
  const { context, stop } = await startProductionGateway({ DATABASE_URL: url, PROCESSES: '1' })
  const seeded: BenchLocker[] = []
  for (let i = 0; i < LOCKERS; i++) {
    seeded.push(await seedLocker(context, { owner: toBase58(ed25519Signer(ownerSeed(i)).publicKey) }))
  }
  await stop()
  return seeded
}

function signed(url: string): Buffer[] {
  const { host } = new URL(url)
  const signers = lockers.map((locker, i) => requestSigner(i, locker))
  return Array.from({ length: REQUESTS }, (_, i) => {
    const at = i % LOCKERS
    const path = `/v1/lockers/${lockers[at]?.locker_id}/record`
    const headers = signers[at]?.({ method: 'GET', path, ops: ['locker:read'] }) ?? {}
    const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  })
}

/** The processor time of a process and its descendants. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  return children.reduce((sum, child) => sum + cpuSeconds(child), own)
}
