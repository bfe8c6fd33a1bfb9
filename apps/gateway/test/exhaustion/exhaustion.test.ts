import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { gatewayEndpoints } from '@svc/api/gateway'
import type { Confirmation, Quote } from '@svc/api/purchases'
import { testClock } from '@svc/devnet/clock'
import { type FaultyNode, startFaultyNode } from '@svc/devnet/faulty-node'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { type Flooded, flood, openEndpoints } from '@svc/devnet/services/flood'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { countRows, tableNames } from '@svc/devnet/table-names'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { share } from '../adapters/http/shares/shares.ts'
import { type EvidenceGateway, openEvidenceGateway } from '../views/evidence/evidence-gateway.ts'
import { BOUNDS, type Bound, boundsOf, type Known, UNDECLARED } from './bounds.ts'

/** Requests that an address may send in a minute, and that it sends. */
const PER_MINUTE = 4
const TIMES = 10

const dataDir = mkdtempSync(join(tmpdir(), 'svc-exhaustion-'))
let chains: LocalChains
let nodes: FaultyNode[]
let instance: EvidenceGateway
let known: Known
/** The SQL statements of this gateway since its start. */
const statements: string[] = []

beforeAll(async () => {
  const { now } = testClock()
  chains = await startLocalChains({ now })
  nodes = await Promise.all([startFaultyNode(chains.primary.url), startFaultyNode(chains.evm.url)])
  const [primary, evm] = nodes as [FaultyNode, FaultyNode]
  const prepare = DatabaseSync.prototype.prepare
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql, ...options) {
    statements.push(sql)
    return prepare.call(this, sql, ...options)
  })
  const variables = {
    ...(chains.variables as Record<string, string>),
    PRIMARY_RPC_URLS: primary.url,
    EVM_RPC_URLS: evm.url,
    DATA_DIR: dataDir,
    TRUSTED_PROXIES: '127.0.0.1,::1',
    RATE_LIMITS: `address=${PER_MINUTE}/min`,
  }
  instance = await openEvidenceGateway(variables, { now })
  statements.length = 0
  const locker = await instance.filled({ 'a.txt': 'one' })
  const { record } = await instance.state(locker)
  while (await instance.gateway.context.publishLog()) {}
  const quote = await requestQuote()
  const [leg] = quote.accepts
  known = {
    receiptId: locker.receipt_id,
    shareId: (await share(locker, 'a.txt')).id,
    paidReceiptId: await buy(),
    digest: record.envelope!.statement_digest,
    payReqId: quote.extensions.svc.info.pay_req_id,
    network: leg!.network,
    asset: leg!.asset,
  }
})
afterAll(async () => {
  vi.restoreAllMocks()
  await instance?.close()
  await stopNodes()
  rmSync(dataDir, { recursive: true })
})

let nodesStopped: Promise<unknown> | undefined
const stopNodes = () => {
  nodesStopped ??= Promise.all([...nodes, chains].map((one) => one.stop()))
  return nodesStopped
}

const BUYER = { 'x-forwarded-for': '10.2.0.1' }

async function requestQuote(): Promise<Quote> {
  return (await instance.send<Quote>('POST', '/v1/storage/request', { units: 1 }, BUYER)).body
}

/** Returns the id of the receipt. */
async function buy(): Promise<string> {
  const quote = await requestQuote()
  const body = { pay_req_id: quote.extensions.svc.info.pay_req_id, tx_sig: await payLeg(chains, quote.accepts[0]!) }
  const { body: confirmed } = await instance.send<Confirmation>('POST', '/v1/storage/confirm', body, BUYER)
  return confirmed.receipt.receipt_id
}

it('T-140 every declared bound belongs to a public endpoint', () => {
  const names = openEndpoints(gatewayEndpoints).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(Object.keys(BOUNDS)))
})

it('T-10 concurrent health requests share one check', async () => {
  const { providers } = instance.gateway.context
  const checkHealth = providers.health.bind(providers)
  const gate = Promise.withResolvers<void>()
  const checks = vi.spyOn(providers, 'health').mockImplementation(() => gate.promise.then(checkHealth))
  let arrived = 0
  const countArrival = () => void arrived++
  subscribe('http.server.request.start', countArrival)
  try {
    const flooded = flood(instance.gateway.url, { path: '/health/ready' }, { times: 20, address: '10.1.0.1' })
    await expect.poll(() => arrived).toBe(20)
    gate.resolve()
    expect(await flooded).toEqual({ served: Array(20).fill(200), limited: 0 })
    expect(checks).toHaveBeenCalledTimes(1)
  } finally {
    unsubscribe('http.server.request.start', countArrival)
    checks.mockRestore()
  }
})

it('T-11 unauthenticated callers are refused before a byte of a long body', async () => {
  const long = gatewayEndpoints.filter(
    ({ auth, maxBodyBytes, takesBytes }) => auth !== 'public' && (takesBytes || maxBodyBytes !== undefined),
  )
  expect(long.map(({ name }) => name)).toContain('createFiles')
  const s3 = { name: 'the S3 endpoint', method: 'PUT', path: '/s3/bucket/key' }
  for (const { name, method, path } of [...long, s3]) {
    const target = path.replace(/\{\+?\w+\}/g, 'x')
    const socket = connect(Number(new URL(instance.gateway.url).port), '127.0.0.1').setEncoding('latin1')
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    expect(answer, name).toMatch(/^HTTP\/1\.1 4\d\d /)
    socket.destroy()
  }
})

it('T-11 the signature of an envelope is checked before its long body is read', async () => {
  const { lockerId, receiptId } = await instance.locker(ed25519Identity())
  const path = `/v1/lockers/${lockerId}/files/batch`
  const { headers } = instance.sign(ed25519Identity(), {
    method: 'POST',
    path,
    body: {},
    ops: ['locker:write'],
    lockerId,
    receiptId,
  })
  const request = httpRequest(instance.gateway.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-length': 1_000_000 },
  })
  request.flushHeaders()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  expect([answer.statusCode, JSON.parse(await text(answer)).error]).toEqual([403, 'SIGNATURE_INVALID'])
  request.on('error', () => {}).destroy()
})

describe('a flood of each request', () => {
  const bounds = { ...boundsOf(openEndpoints(gatewayEndpoints)), ...UNDECLARED }
  const floods = new Map<string, Flood>()
  let descriptors: number
  beforeAll(async () => {
    descriptors = readdirSync('/proc/self/fd').length
    for (const [name, bound] of Object.entries(bounds)) {
      const request = bound.request(known)
      const send = (address: string, times: number) => flood(instance.gateway.url, request, { times, address })
      const from = `10.0.${floods.size}`
      const before = await leftBehind()
      const flooded = await send(`${from}.1`, TIMES)
      floods.set(name, { ...flooded, before, after: await leftBehind(), neighbour: await send(`${from}.2`, 1) })
    }
  })

  it.each(Object.entries(bounds))(
    'T-140 has no lasting effect for %s, and other addresses are served',
    (name, bound) => {
      const { served, limited, before, after, neighbour } = floods.get(name)!
      expectLimit(bound, { served, limited })
      for (const [table, count] of Object.entries(after.rows))
        expect(count, table).toBeLessThanOrEqual((before.rows[table] ?? 0) + served.length * rowsIn(bound, table))
      expect(after.files).toEqual(before.files)
      expect(after.calls - before.calls).toBeLessThanOrEqual(served.length * (bound.calls ?? 0))
      expect(neighbour.served).toEqual(served.slice(0, 1))
    },
  )

  it('T-140 leaves no descriptor and no thread of the pool in use', async () => {
    // Connections to nodes are pooled, as many as were busy together, and both of their ends are in this process.
    await stopNodes()
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(descriptors + MAX_OPEN)
    await expect.poll(() => process.getActiveResourcesInfo().filter((name) => POOL_WORK.test(name))).toEqual([])
  })

  it('T-10 causes no full scan of a table that grows', expectNoScan)
})

interface Flood extends Flooded {
  before: Awaited<ReturnType<typeof leftBehind>>
  after: Awaited<ReturnType<typeof leftBehind>>
  neighbour: Flooded
}

/** Descriptors of hashing threads and database connections. One for each request would be hundreds. */
const MAX_OPEN = 60
const POOL_WORK = /^(FSReq|GetAddrInfo|Hash|Random|PBKDF2|Scrypt|Sign|Zlib)/

async function expectNoScan(): Promise<void> {
  const { db } = instance.gateway.context.database
  const growing = (await tableNames(db as Kysely<unknown>)).filter((name) => !SMALL_TABLES.includes(name))
  const file = globSync('*.{db,sqlite}', { cwd: dataDir })[0] as string
  using database = new DatabaseSync(join(dataDir, file), { readOnly: true })
  const asked = statements.filter((sql) => /^(select|with|insert|update|delete)/.test(sql) && !OWN.test(sql))
  expect(asked.length).toBeGreaterThan(20)
  const scans = asked.flatMap((sql) => {
    const plan = database
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
    const isShort = / limit /.test(sql) && !/ where /.test(sql) && !plan.some((line) => line.startsWith('USE TEMP'))
    const tables = new Map([...sql.matchAll(/"(\w+)" as "(\w+)"/g)].map(([, table, alias]) => [alias, table]))
    const scanned = plan
      .map((line) => /^SCAN (\w+)$|^SEARCH (\w+) USING AUTOMATIC/.exec(line)?.slice(1).join('') ?? '')
      .map((name) => tables.get(name) ?? name)
      .filter((table) => growing.includes(table))
    return isShort ? [] : scanned.map((table) => `${table}: ${sql}`)
  })
  expect(scans).toEqual([])
}

/** Statements of this test, and of `/v1/stats`, which counts in the background for at most a hundredth of the time. */
const OWN = /^select count\(\*\)|^select "n"."file_count" from "attestations"/

/** Tables of one row, or of one row per key, per budget and day, or per witness. */
const SMALL_TABLES = ['announced_keys', 'budget_days', 'log_witnesses', 'snapshot_border_key']

function expectLimit({ limit, perMinute = PER_MINUTE, status = 200 }: Bound, { served, limited }: Flooded): void {
  expect(new Set(served)).toEqual(new Set([status]))
  if (limit === 'none') expect(limited).toBe(0)
  if (limit === 'address') expect(served.length).toBe(perMinute)
  if (limit === 'work') expect(served.length).toBeGreaterThanOrEqual(perMinute)
}

/** A rate limit key is one row however often it is used, and so is the journal's file, which a timer saves. */
const SINGLE_ROWS = ['rate_limits', 'journal_files']

function rowsIn({ rows = {} }: Bound, table: string): number {
  return SINGLE_ROWS.includes(table) ? 1 : (rows[table] ?? 0)
}

/** What requests may leave behind. */
async function leftBehind() {
  const isDatabase = /\.(db|sqlite)(-wal|-shm|-journal)?$/
  // Otherwise a timer saves it ten seconds later, during another measurement.
  await instance.gateway.context.egress.save()
  return {
    rows: await countRows(instance.gateway.context.database.db as Kysely<unknown>),
    files: readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => !isDatabase.test(name)),
    calls: nodes.reduce((sum, { calls }) => sum + calls.length, 0),
  }
}
