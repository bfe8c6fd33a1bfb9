// Three gateways with one PostgreSQL, behind a plain nginx that sends each request to the next gateway.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createFreshDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { startLocalChains } from '@svc/devnet/local-chains'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity, signCall } from '@svc/devnet/services/signing'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatewayRequests, type Locker } from './gateway-requests.ts'
import { type Nginx, startNginx } from './nginx.ts'

const program = new URL('../apps/gateway/src/main.ts', import.meta.url)
const owner = ed25519Identity(DEMO_PAYERS[2]!.privateKeyBytes)
const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const NAMED = 'a b/c%2Fd/é'
/** How many requests an address may send per minute, over all replicas. */
const PER_ADDRESS = 60

interface Replica {
  port: string
  /** The number of requests that it answered since its start. */
  readonly answered: number
  pid(): number
  kill(): Promise<unknown>
  start(): Promise<void>
}

let nginx: Nginx
let replicas: Replica[]
let requests: ReturnType<typeof gatewayRequests>
let locker: Locker
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const [database, chains, folder] = await Promise.all([
    createFreshDatabase('postgres'),
    startLocalChains(),
    mkdtemp(join(tmpdir(), 'svc-replicas-')),
  ])
  closing.push(database.drop, chains.stop, () => rm(folder, { recursive: true, force: true }))
  const ports = (await Promise.all(Array.from({ length: 3 }, freePort))).map(String)
  nginx = await startNginx({ replicas: ports })
  closing.push(nginx.stop)
  const variables = {
    ...chains.variables,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PROCESSES: '1',
    BASE_URL: nginx.url,
    TRUSTED_PROXIES: '127.0.0.1',
    DATABASE_URL: database.url,
    // Shared like a bucket: keys, files, staged bytes.
    DATA_DIR: folder,
    PAGES_DIR: '/nonexistent',
    RATE_LIMITS: `address=${PER_ADDRESS}/min,receipt=0/min`,
  }
  replicas = ports.map((port) => createReplica(port, { ...variables, PORT: port }))
  // The first replica creates the development keys that all of them share.
  await replicas[0]?.start()
  await Promise.all(replicas.slice(1).map((replica) => replica.start()))
  closing.push(() => Promise.all(replicas.map((replica) => replica.kill())))
  const chainUrls = { primaryChain: chains.primary.url, evmChain: chains.evm.url }
  requests = gatewayRequests({ gateway: nginx.url, ...chainUrls })
  locker = await requests.buyLocker(owner, 'SOL', 'primary-mainnet', 2)
  await requests.putFile(owner, locker, { filename: NAMED, content_type: 'text/plain' }, Buffer.from('named'))
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

function createReplica(port: string, env: Record<string, string>): Replica {
  let running: StartedProcess
  return {
    port,
    get answered() {
      return running.log().filter(({ request_id, status }) => request_id && status).length
    },
    pid: () => running.pid,
    async start() {
      running = startProcess(program, { env, outlivesTest: true })
      await running.waitForLine(/gateway started/)
    },
    kill: () => running.kill(),
  }
}

interface Session {
  session_id: string
  upload_token: string
  files: { file_id: string }[]
}

async function openSession(filename: string): Promise<Session> {
  const path = `/v1/lockers/${locker.lockerId}/upload-sessions`
  const body = { files: [{ filename, content_type: 'application/octet-stream' }] }
  return (await requests.call(owner, { ...locker, method: 'POST', path, body, ops: ['locker:write'] })) as never
}

/** Repeats a request that nginx could not deliver, as any client does. Any answer of a replica counts. */
async function repeat(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await send()
    if (response.status !== 502 || response.headers.get('content-type') !== 'text/html') return response
  }
}

/** The addresses of the replicas that did not answer nginx. */
async function silentReplicas(): Promise<Set<string>> {
  const undelivered = (await nginx.logs()).matchAll(/^\S+ \[\S+\] \S+ \S+ 502 \S+ \S+ (.+) 502 /gm)
  return new Set([...undelivered].map(([, upstreams]) => upstreams as string))
}

interface Statement {
  sequence: number
  statement_digest: string
  prev_statement_digest: string
}

async function statements(): Promise<Statement[]> {
  const { body } = await requests.send('GET', `/v1/storage/statements?receipt_id=${locker.receiptId}`)
  return (body.statements as Statement[]).toSorted((a, b) => a.sequence - b.sequence)
}

const list = () => ({ path: `/v1/lockers/${locker.lockerId}/files`, ops: ['locker:list'], ...locker })
const link = (filename: string) => `${nginx.url}/v1/r/${locker.receiptId}/f/${encodeURIComponent(filename)}`

it('T-88 a receipt is valid at all replicas, even if each step of its purchase is at another one', async () => {
  for (let i = 0; i < replicas.length; i++) {
    const { status, body } = await requests.send('GET', `/v1/receipts/${locker.receiptId}/verify`)
    expect([status, body.valid]).toEqual([200, true])
  }
})

it('T-88 an upload session continues at other replicas while one is killed, and all serve the file', {
  tags: ['nightly'],
}, async () => {
  const bytes = randomBytes(1_000_000)
  const size = 50_000
  const session = await openSession('large')
  const headers = { 'x-upload-token': session.upload_token, 'content-type': 'application/octet-stream' }
  const parts = `${nginx.url}/v1/upload-sessions/${session.session_id}/files/${session.files[0]?.file_id}/parts`
  const send = async (index: number) => {
    const body = bytes.subarray(index * size, (index + 1) * size)
    const sent = await repeat(() => fetch(`${parts}?index=${index}`, { method: 'POST', headers, body }))
    expect(sent.status, await sent.text()).toBe(200)
  }
  for (let index = 0; index < 6; index++) await send(index)
  const sending = Array.from({ length: 14 }, (_, i) => send(6 + i))
  await replicas[1]?.kill()
  await Promise.all(sending)
  const finalize = `${nginx.url}/v1/upload-sessions/${session.session_id}/finalize`
  const finalized = await repeat(() =>
    fetch(finalize, { method: 'POST', headers: { 'x-upload-token': session.upload_token } }),
  )
  expect(await finalized.json()).toMatchObject({ status: 'complete', files: [{ content_hash: sha256(bytes) }] })
  expect([...(await silentReplicas())].filter((address) => address !== `127.0.0.1:${replicas[1]?.port}`)).toEqual([])
  await replicas[1]?.start()
  for (let i = 0; i < 6; i++) {
    const read = await fetch(link('large'))
    expect(sha256(new Uint8Array(await read.arrayBuffer()))).toBe(sha256(bytes))
  }
})

it('T-88 statements requested concurrently at all replicas form one sequence', { tags: ['nightly'] }, async () => {
  const before = (await statements()).length
  for (const round of [before + 1, before + 2]) {
    await requests.putFile(owner, locker, { filename: `round ${round}`, content_type: 'text/plain' }, Buffer.from('x'))
    expect((await requests.confirmFile(locker, `round ${round}`)).status).toBe(200)
    const path = `/v1/storage/attest?receipt_id=${locker.receiptId}&sync=true`
    const attest = () => requests.call(owner, { ...locker, method: 'POST', path, ops: ['locker:attest'] })
    const made = await Promise.all(Array.from({ length: 6 }, attest))
    const sequences = made.map(({ attestation }) => (attestation as { evidence_seq: number }).evidence_seq)
    expect(new Set(sequences)).toEqual(new Set([round]))
  }
  const [first, second, ...more] = (await statements()).slice(before)
  expect([second?.prev_statement_digest, more]).toEqual([first?.statement_digest, []])
})

it('T-88 a nonce that one replica accepted is refused by all, and every replica serves requests', {
  tags: ['nightly'],
}, async () => {
  const { headers } = signCall(owner, list(), Date.now())
  const answers = await Promise.all(
    Array.from({ length: 9 }, () => requests.send('GET', list().path, undefined, headers)),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ body }) => body.error === 'NONCE_REPLAYED')).toHaveLength(8)
  // nginx skips the killed replica for some seconds more.
  const poll = async () => {
    await requests.send('GET', list().path)
    return replicas.every(({ answered }) => answered > 5)
  }
  await expect.poll(poll, { interval: 200 }).toBe(true)
})

it('T-88 TLS ends at nginx, and filenames arrive unchanged', async () => {
  const url = new URL(new URL(link(NAMED)).pathname, nginx.tlsUrl)
  const options = { ca: nginx.certificate, servername: 'gateway.example', headers: { host: 'gateway.example' } }
  const [response] = await once(httpsRequest(url, options).end(), 'response')
  expect([response.statusCode, await text(response)]).toEqual([200, 'named'])
})

/** Requests a quote from another address of this machine. */
async function quoteFrom(localAddress: string, given: Record<string, string> = {}): Promise<number> {
  const headers = { 'content-type': 'application/json', ...given }
  const call = httpRequest(`${nginx.url}/v1/storage/request`, { method: 'POST', localAddress, headers, agent: false })
  const [response] = await once(call.end('{"units":1}'), 'response')
  response.resume()
  return response.statusCode
}

it('T-88 a rate limit counts over all replicas, by the address that nginx observed, whatever a client claims', {
  tags: ['nightly'],
}, async () => {
  const started = Date.now()
  const statuses: number[] = []
  while (statuses.length < 2 * PER_ADDRESS) {
    const forged = Array.from({ length: 30 }, (_, i) => ({ 'x-forwarded-for': `198.51.100.${statuses.length + i}` }))
    statuses.push(...(await Promise.all(forged.map((headers) => quoteFrom('127.0.0.2', headers)))))
  }
  const taken = statuses.filter((status) => status === 402).length
  expect(taken, [...new Set(statuses)].join()).toBeGreaterThanOrEqual(PER_ADDRESS)
  // One request is returned to the limit each second.
  expect(taken).toBeLessThanOrEqual(PER_ADDRESS + (Date.now() - started) / 1000)
  expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - taken)
  expect(await quoteFrom('127.0.0.3')).toBe(402)
})

it('T-88 below a prefix the path arrives without it, and is otherwise unchanged', async () => {
  const below = await startNginx({ replicas: replicas.map(({ port }) => port), isBelowPrefix: true })
  closing.push(below.stop)
  const path = new URL(link(NAMED)).pathname
  expect(await (await fetch(`${below.url}/svc${path}`)).text()).toBe('named')
  expect((await fetch(`${below.url}/svc/health/live`)).status).toBe(200)
  expect((await fetch(`${below.url}/svc/metrics`)).status).toBe(404)
  expect((await fetch(`${below.url}/svc`, { redirect: 'manual' })).headers.get('location')).toContain('/svc/')
  expect((await fetch(`${below.url}${path}`)).headers.get('server')).toContain('nginx')
})

it('T-37 ADD-29 on a full disk nothing is signed, and everything resumes once there is space', {
  tags: ['nightly'],
}, async () => {
  const limitFiles = (limit: string) => {
    for (const replica of replicas) execFileSync('prlimit', ['--pid', `${replica.pid()}`, `--fsize=${limit}:`])
  }
  const path = `/v1/storage/attest?receipt_id=${locker.receiptId}&sync=true`
  const attest = async () => {
    const call = { ...locker, method: 'POST', path, ops: ['locker:attest'] }
    const { headers } = signCall(owner, call, Date.now())
    return requests.send('POST', path, undefined, headers)
  }
  await requests.putFile(owner, locker, { filename: 'last', content_type: 'text/plain' }, Buffer.from('x'))
  expect((await requests.confirmFile(locker, 'last')).status).toBe(200)
  limitFiles('0')
  for (let i = 0; i < 3; i++) {
    const { status, body } = await attest()
    expect([status, body.error]).toEqual([503, 'logbook_unavailable'])
  }
  // Each replica reads only its own journal.
  const readHealth = () =>
    Promise.all(replicas.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/health`)).json()))
  const failing = { status: 'degraded', continuity: expect.objectContaining({ logbook: 'failing' }) }
  expect(await readHealth()).toContainEqual(expect.objectContaining(failing))
  limitFiles('unlimited')
  await expect.poll(readHealth).toMatchObject([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }])
  expect((await attest()).status).toBe(200)
  const sequences = (await statements()).map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.map((_, i) => i + 1))
})
