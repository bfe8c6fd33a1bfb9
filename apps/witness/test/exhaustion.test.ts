import { witnessEndpoints } from '@svc/api/witness'
import { type AnonymousRequest, flood, openEndpoints } from '@svc/devnet/services/flood'
import { startTestWitness, type TestWitness } from '@svc/devnet/services/witness'
import { countRows } from '@svc/devnet/table-names'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { requestBody, testLog } from './requests.ts'

const TIMES = 20
const log = testLog('log.example/flooded')
const unknownLog = testLog('log.example/unknown')

let witness: TestWitness
beforeAll(async () => {
  witness = await startTestWitness([log.line], { TRUSTED_PROXIES: '127.0.0.1,::1' })
  const first = await flood(witness.url, checkpoint(await log.request(0, 5)), { times: 1, address: '10.0.0.1' })
  expect(first.served).toEqual([200])
})
afterAll(() => witness.stop())

const checkpoint = (body: string): AnonymousRequest => ({ method: 'POST', path: '/add-checkpoint', body })

type Answered = [request: AnonymousRequest, status: number]

/** By the name of the endpoint: requests that must change nothing in any number, with their expected status. */
const BOUNDS: Readonly<Record<string, () => Promise<Answered[]> | Answered[]>> = {
  addCheckpoint: async () => [
    [checkpoint(await log.request(0, 5)), 409],
    [checkpoint(await unknownLog.request(0, 5)), 404],
    [checkpoint(requestBody(5, [], await log.checkpoint(5))), 200],
    [checkpoint(`old 5\n${'A'.repeat(60_000)}`), 400],
    [checkpoint(`old 5\n\n${(await log.checkpoint(5)).repeat(200)}`), 400],
  ],
  cosignedCheckpoint: () => [
    [{ path: `/${'0'.repeat(64)}/checkpoint` }, 404],
    [{ path: `/${'a'.repeat(8_000)}/checkpoint` }, 404],
  ],
  witnessPage: () => [[{ path: '/' }, 200]],
  alarms: () => [[{ path: '/alarms?limit=20' }, 200]],
  witnessHealth: () => [[{ path: '/health' }, 200]],
  witnessLive: () => [[{ path: '/health/live' }, 200]],
  witnessMetrics: () => [[{ path: '/metrics' }, 200]],
  witnessOpenApi: () => [[{ path: '/openapi.json' }, 200]],
}

it('T-140 every endpoint of a witness has a tested bound', () => {
  expect(Object.keys(BOUNDS).sort()).toEqual(
    openEndpoints(witnessEndpoints)
      .map(({ name }) => name)
      .sort(),
  )
})

it.each(Object.entries(BOUNDS))('T-140 %s withstands a flood and serves other addresses', async (_, requests) => {
  const rowCounts = () => countRows(witness.context.database.db as Kysely<unknown>)
  const before = await rowCounts()
  for (const [request, status] of await requests()) {
    const { served } = await flood(witness.url, request, { times: TIMES, address: '10.0.0.1' })
    expect(served).toEqual(Array(TIMES).fill(status))
  }
  expect(await rowCounts()).toEqual(before)
  const neighbour = await flood(witness.url, { path: '/health' }, { times: 1, address: '10.0.0.2' })
  expect(neighbour.served).toEqual([200])
})
