import { type Route, requestsPerCpuSecond, warmUp } from './load.ts'
import { median, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { type BenchLocker, requestSigner, type SignedRequest } from './signed-requests.ts'

const ROUNDS = scaled(3, 1)
const SIZES = { small: 1000, large: scaled(1_000_000, 50_000) }

/** The name of a file in the bench lockers. */
const nameOf = (index: number) => {
  const number = String(index).padStart(7, '0')
  return `folder-${number.slice(0, 4)}/file-${number}.txt`
}

/** The same request in a locker of a thousand files and in one of a million. */
export async function growthRows(): Promise<Row[]> {
  const small = await startServer('lockers', { FILES: String(SIZES.small), LOG_LEVEL: 'warn' })
  const large = await startServer('lockers', { FILES: String(SIZES.large), LOG_LEVEL: 'warn' })
  const rows: Row[] = []
  for (const [what, request] of Object.entries(REQUESTS)) {
    const rates = { small: [] as number[], large: [] as number[] }
    const servers = { small, large }
    for (const size of ['small', 'large'] as const)
      await warmUp(servers[size], routeOf(servers[size], request, SIZES[size]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const size of ['small', 'large'] as const) {
        rates[size].push(await requestsPerCpuSecond(servers[size], routeOf(servers[size], request, SIZES[size])))
      }
    }
    const [before, after] = [median(rates.small), median(rates.large)]
    rows.push({
      what: `${what}, in a locker of ${countText(SIZES.large)} files`,
      measured: `${after.toFixed(0)} per CPU second`,
      against: `1,000 files: ${before.toFixed(0)}`,
      ratio: before / after,
      goal: { atMost: 1.5 },
    })
  }
  await small.stop()
  await large.stop()
  return rows
}

type Ask = (base: string, files: number) => SignedRequest
const random = (below: number) => Math.floor(Math.random() * below)
const cursorAt = (index: number) => Buffer.from(nameOf(index)).toString('base64url')

const REQUESTS: Record<string, Ask> = {
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
}

function routeOf(server: ServerProcess, ask: Ask, files: number): Route {
  const [locker] = server.facts as [BenchLocker]
  const sign = requestSigner(0, locker)
  return {
    path: '/',
    next() {
      const request = ask(`/v1/lockers/${locker.locker_id}`, files)
      const json = request.body ? { 'content-type': 'application/json' } : {}
      return { ...request, headers: { ...sign(request), ...json } }
    },
  }
}
