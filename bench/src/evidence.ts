import { drainBytes } from './bytes.ts'
import { type Route, requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const ROUNDS = scaled(2, 1)
const LOCKERS = 200
const SMALL = 3
const SIZES = { small: 1000, large: scaled(1_000_000, 50_000) }
const BARE = { path: '/v1/short-url/verify-key' }
const MEMORY_MIB = 100
const PROOFS = 1000
const BUNDLE_MEGABYTES = 100

/** Reads of statements, which need no signature and are frequent. */
export async function evidenceRows(): Promise<Row[]> {
  const large = await startServer('evidence', { FILES: String(SIZES.large), LOG_LEVEL: 'warn' })
  const rows = [await verifyRow(), ...(await proofRows(large)), await memoryRow(large), await bundleRow(large)]
  await large.stop()
  return rows
}

async function verifyRow(): Promise<Row> {
  const variables = { LOCKERS: String(LOCKERS), FILES: String(SMALL), LOG_LEVEL: 'warn' }
  const server = await startServer('evidence', variables)
  const receiptIds = server.facts as string[]
  let turn = 0
  const next = () => ({ path: `/v1/storage/verify?receipt_id=${receiptIds[turn++ % LOCKERS]}`, headers: {} })
  const [verify, bare] = await ratesOf([server, { path: '/', next }], [server, BARE])
  await server.stop()
  return {
    what: 'verify of a small locker',
    measured: `${verify.toFixed(0)} per CPU second`,
    against: `bare JSON route: ${bare.toFixed(0)}`,
    ratio: verify / bare,
    goal: { atLeast: 0.6 },
  }
}

async function proofRows(large: ServerProcess): Promise<Row[]> {
  const small = await startServer('evidence', { FILES: String(SIZES.small), LOG_LEVEL: 'warn' })
  const [before, after] = await ratesOf([small, proofsOf(small, SIZES.small)], [large, proofsOf(large, SIZES.large)])
  await small.stop()
  const measured = `${after.toFixed(0)} per CPU second`
  return [
    {
      what: `inclusion proof in a locker of ${countText(SIZES.large)} files`,
      measured,
      against: `1,000 files: ${before.toFixed(0)}`,
      ratio: before / after,
      goal: { atMost: 1.5 },
    },
    {
      what: `inclusion proofs per CPU second, in a locker of ${countText(SIZES.large)} files`,
      measured,
      against: `${PROOFS}`,
      ratio: after / PROOFS,
      goal: { atLeast: 1 },
    },
  ]
}

async function memoryRow(server: ServerProcess): Promise<Row> {
  const idle = await server.peakMemory(async () => {})
  const peak = await server.peakMemory(() => drainBytes(bundleUrl(server)))
  return {
    what: `memory, evidence bundle of ${countText(SIZES.large)} files`,
    measured: `${Math.max(peak - idle, 0).toFixed(0)} MiB more than before`,
    against: `${MEMORY_MIB} MiB`,
    ratio: Math.max(peak - idle, 0) / MEMORY_MIB,
    goal: { atMost: 1 },
  }
}

async function bundleRow(server: ServerProcess): Promise<Row> {
  const rates: { wall: number; cpu: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = await server.cpuSeconds()
    const start = performance.now()
    const megabytes = (await drainBytes(bundleUrl(server))) / 1e6
    const wall = megabytes / ((performance.now() - start) / 1000)
    rates.push({ wall, cpu: megabytes / ((await server.cpuSeconds()) - before) })
  }
  const wall = median(rates.map((rate) => rate.wall))
  return {
    what: `evidence bundle of ${countText(SIZES.large)} files`,
    measured: `${wall.toFixed(0)} MB/s, ${median(rates.map(({ cpu }) => cpu)).toFixed(0)} MB per CPU second`,
    against: `${BUNDLE_MEGABYTES} MB/s`,
    ratio: wall / BUNDLE_MEGABYTES,
    goal: { atLeast: 1 },
  }
}

function bundleUrl({ url, facts }: ServerProcess): string {
  const [receiptId] = facts as [string]
  return `${url}/v1/storage/evidence-bundle?receipt_id=${receiptId}`
}

type Load = [server: ServerProcess, route: Route]

/** Alternates the two loads, so that a slow moment affects both. */
async function ratesOf(one: Load, other: Load): Promise<[number, number]> {
  for (const load of [one, other]) await warmUp(...load)
  const rates: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) {
    rates.push([await requestsPerCpuSecond(...one), await requestsPerCpuSecond(...other)])
  }
  return [median(rates.map(([rate]) => rate)), median(rates.map(([, rate]) => rate))]
}

function proofsOf({ facts }: ServerProcess, files: number): Route {
  const [receiptId] = facts as [string]
  const path = `/v1/storage/merkle-proof?receipt_id=${receiptId}&filename=`
  return { path: '/', next: () => ({ path: path + nameBelow(files), headers: {} }) }
}

/** The name of a file in the bench lockers. */
function nameBelow(files: number): string {
  const number = String(Math.floor(Math.random() * files)).padStart(7, '0')
  return encodeURIComponent(`folder-${number.slice(0, 4)}/file-${number}.txt`)
}
