import { type Route, requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'
import { type ServerProcess, type StartOptions, startServer } from './server-process.ts'
import { type BenchLocker, requestSigner, type SignedRequest } from './signed-requests.ts'

const ROUNDS = scaled(2, 1)

/** The name of a file in the bench lockers. */
export const nameOf = (index: number) => {
  const number = String(index).padStart(7, '0')
  return `folder-${number.slice(0, 4)}/file-${number}.txt`
}

interface Size {
  files: number
  /** Other lockers, each with a receipt and a statement. */
  lockers: number
}

export const SMALL: Size = { files: 1000, lockers: 0 }

/** The same requests in a locker of a thousand files, and in one of a million beside many other lockers. */
export async function growthRows(): Promise<Row[]> {
  const large = { files: scaled(1_000_000, 50_000), lockers: scaled(200_000, 0) }
  return [...(await rowsOn('SQLite', large)), ...(await rowsOn('PostgreSQL', large))]
}

async function rowsOn(database: 'SQLite' | 'PostgreSQL', size: Size): Promise<Row[]> {
  const [small, large] = [await startGrown(database, SMALL), await startGrown(database, size)]
  const others = size.lockers === 0 ? '' : ` among ${countText(size.lockers)} lockers`
  const rows: Row[] = []
  for (const [what, request] of Object.entries(REQUESTS)) {
    const routes = [routeOf(small, request, SMALL.files), routeOf(large, request, size.files)] as const
    await warmUp(small, routes[0])
    await warmUp(large, routes[1])
    const rates: [small: number, large: number][] = []
    for (let round = 0; round < ROUNDS; round++) {
      rates.push([await requestsPerCpuSecond(small, routes[0]), await requestsPerCpuSecond(large, routes[1])])
    }
    const [before, after] = [median(rates.map(([rate]) => rate)), median(rates.map(([, rate]) => rate))]
    rows.push({
      what: `${database}: ${what}, beside ${countText(size.files)} files${others}`,
      measured: `${after.toFixed(0)} per CPU second`,
      against: `${countText(SMALL.files)} files: ${before.toFixed(0)}`,
      ratio: before / after,
      goal: { atMost: 1.5 },
    })
  }
  await small.stop()
  await large.stop()
  return rows
}

/** The secret of internal calls in this benchmark. */
const INTERNAL_SECRET = 'bench'.repeat(8)

export function startGrown(
  database: 'SQLite' | 'PostgreSQL',
  { files, lockers }: Size,
  options?: StartOptions,
): Promise<ServerProcess> {
  const variables = {
    DIALECT: database === 'SQLite' ? 'sqlite' : 'postgres',
    FILES: String(files),
    LOCKERS: String(lockers),
    INTERNAL_SECRET,
    LOG_LEVEL: 'warn',
    // Some statements that fill the database take longer than a gateway allows.
    DATABASE_LIMITS: 'statement_seconds=0',
  }
  return startServer('growth', variables, options)
}

interface Grown {
  locker: BenchLocker
  /** The receipts of lockers with ten files each, whose bytes exist. */
  smallReceipts: string[]
}

type Ask = (base: string, files: number, smallReceipts: readonly string[]) => SignedRequest | InternalRequest
type InternalRequest = Pick<SignedRequest, 'method' | 'path' | 'body'> & { ops: null }

const random = (below: number) => Math.floor(Math.random() * below)
const cursorAt = (index: number) => Buffer.from(nameOf(index)).toString('base64url')

export const REQUESTS = {
  'create a file': (base) => ({
    method: 'POST',
    path: `${base}/files`,
    ops: ['locker:write'],
    body: JSON.stringify({ filename: `new-${Math.random()}.txt` }),
  }),
  'URLs of ten files': (base, files) => ({
    method: 'POST',
    path: `${base}/files/urls`,
    ops: ['locker:read'],
    body: JSON.stringify({ filenames: Array.from({ length: 10 }, () => nameOf(random(files))) }),
  }),
  'a page of 100 files': (base, files) => ({
    method: 'GET',
    path: `${base}/files?limit=100&cursor=${cursorAt(random(files - 200))}`,
    ops: ['locker:list'],
  }),
  'the record': (base) => ({ method: 'GET', path: `${base}/record`, ops: ['locker:read'] }),
  'attestation of a locker with 10 files': (_base, _files, smallReceipts) => ({
    method: 'POST',
    path: '/v1/internal/attest',
    ops: null,
    body: JSON.stringify({ receipt_id: smallReceipts[random(smallReceipts.length)], force: true, push: false }),
  }),
} satisfies Record<string, Ask>

export function routeOf(server: ServerProcess, ask: Ask, files: number): Route {
  const { locker, smallReceipts } = server.facts as Grown
  const sign = requestSigner(0, locker)
  return {
    path: '/',
    next() {
      const request = ask(`/v1/lockers/${locker.locker_id}`, files, smallReceipts)
      const { method, path, body } = request
      const credentials = request.ops === null ? { authorization: `Bearer ${INTERNAL_SECRET}` } : sign(request)
      const json = body ? { 'content-type': 'application/json' } : {}
      return { method, path, headers: { ...credentials, ...json }, ...(body && { body }) }
    },
  }
}
