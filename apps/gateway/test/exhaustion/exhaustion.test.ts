import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Quote } from '@svc/api/purchases'
import { gatewayEndpoints } from '@svc/api/gateway'
import { type FaultyNode, startFaultyNode } from '@svc/devnet/faulty-node'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { countRows } from '@svc/devnet/table-names'
import { type Flooded, flood, openEndpoints } from '@svc/testbed/flood'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EvidenceHouse, openEvidenceHouse } from '../evidence/evidence-house.ts'
import { BOUNDS, type Bound, type Known, UNDECLARED } from './bounds.ts'

/** Requests that an address may send in a minute, and that it sends. */
const PER_MINUTE = 4
const TIMES = 10

const dataDir = mkdtempSync(join(tmpdir(), 'svc-exhaustion-'))
let chains: LocalChains
let nodes: FaultyNode[]
let house: EvidenceHouse
let known: Known

beforeAll(async () => {
  chains = await startLocalChains({ finalAtOnce: true })
  nodes = await Promise.all([startFaultyNode(chains.primary.url), startFaultyNode(chains.evm.url)])
  const [primary, evm] = nodes as [FaultyNode, FaultyNode]
  house = await openEvidenceHouse({
    ...(chains.variables as Record<string, string>),
    PRIMARY_RPC_URLS: primary.url,
    EVM_RPC_URLS: evm.url,
    DATA_DIR: dataDir,
    TRUSTED_PROXIES: '127.0.0.1,::1',
    RATE_LIMIT_ADDRESS: String(PER_MINUTE),
  })
  const locker = await house.filled({ 'a.txt': 'one' })
  const { record } = await house.state(locker)
  while (await house.gateway.rooms.log.publish()) {}
  const { body: quote } = await house.send<Quote>('POST', '/v1/storage/request', { units: 1 })
  const [leg] = quote.accepts
  known = {
    receiptId: locker.receipt_id,
    digest: record.envelope!.statement_digest,
    payReqId: quote.extensions.svc.info.pay_req_id,
    network: leg!.network,
    asset: leg!.asset,
  }
})
afterAll(async () => {
  await house?.close()
  await Promise.all([...nodes, chains].map((one) => one.stop()))
  rmSync(dataDir, { recursive: true })
})

it('T-140 every endpoint that anybody may call has a bound that is tried here', () => {
  const names = openEndpoints(gatewayEndpoints).map(({ name }) => name)
  expect(Object.keys(BOUNDS).sort()).toEqual(names.sort())
})

let addresses = 0

describe.each([...Object.entries(BOUNDS), ...Object.entries(UNDECLARED)])('%s', (_, bound) => {
  it('T-140 leaves a flood of requests without effect, and serves neighbours', async () => {
    const request = bound.request(known)
    const from = `10.0.${++addresses}`
    const before = await kept()
    const flooded = await flood(house.gateway.url, request, { times: TIMES, address: `${from}.1` })
    const after = await kept()
    expectLimit(bound, flooded)
    const served = flooded.served.length
    for (const [table, count] of Object.entries(after.rows))
      expect(count, table).toBeLessThanOrEqual((before.rows[table] ?? 0) + served * rowsIn(bound, table))
    expect(after.files).toEqual(before.files)
    expect(after.calls - before.calls).toBeLessThanOrEqual(served * (bound.calls ?? 0))
    const neighbour = await flood(house.gateway.url, request, { times: 1, address: `${from}.2` })
    expect(neighbour.served).toEqual(flooded.served.slice(0, 1))
  })
})

function expectLimit({ limit }: Bound, { served, limited }: Flooded): void {
  for (const status of served) expect(status).toBeLessThan(500)
  if (limit === 'none') expect(limited).toBe(0)
  if (limit === 'address') expect(served.length).toBe(PER_MINUTE)
  if (limit === 'work') expect(served.length).toBeGreaterThanOrEqual(PER_MINUTE)
}

/** A key of a rate limit is one row, however often it is used. */
const LIMIT_ROWS = 1

function rowsIn({ rows = {} }: Bound, table: string): number {
  return table === 'rate_limits' ? LIMIT_ROWS : (rows[table] ?? 0)
}

/** What requests may leave behind. */
async function kept() {
  const isDatabase = /\.(db|sqlite)(-wal|-shm|-journal)?$/
  return {
    rows: await countRows(house.gateway.context.database.db as Kysely<unknown>),
    files: readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => !isDatabase.test(name)),
    calls: nodes.reduce((sum, { calls }) => sum + calls.length, 0),
  }
}
