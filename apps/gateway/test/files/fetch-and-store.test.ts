import { readdir } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import type { FetchedFile } from '@svc/api/files'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type SignedCall } from '@svc/devnet/services/test-gateway'
import { openSource } from '@svc/service/outgoing/open-source'
import { SOURCE, startTestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { beforeEach, expect, it } from 'vitest'
import type { LockerCaller } from '../../src/auth/callers.ts'
import type { Context } from '../../src/context.ts'
import { fetchAndStore as storeFetched } from '../../src/files/fetch-and-store.ts'
import { publicBytes } from '../adapters/http/sessions/sessions.ts'
import { type ErrorReply, entryOf, manifestOf, sha256, upload } from './confirm/confirm.ts'
import { lockerRow } from './files.ts'

const MAX_BYTES = 1_000_000
const operator = ed25519Identity()
/** The answer of the source, set by each test. */
let answer: RequestListener
let deadlineMs: number
const server = forAllTests(() => startTestTlsServer((request, response) => answer(request, response)))
const fetchSource = (url: string) => openSource(url, { ...server.options, maxBytes: MAX_BYTES, deadlineMs })
const instance = forAllTests(() => openTestGateway({ FILE_LIMITS: `fetch_bytes=${MAX_BYTES}` }, { fetchSource }))
const locker = forEachTest(() => instance.locker(ed25519Identity(), { operators: [operator] }))
beforeEach(() => {
  deadlineMs = 30_000
  answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('a report')
})

function fetchAndStore<Body = FetchedFile>(body: object, changes: Partial<SignedCall> = {}, who = locker.owner) {
  const { receiptId, lockerId } = locker
  const call = { method: 'POST', path: '/v1/files/fetch-and-store', body, ops: ['locker:write'], receiptId, lockerId }
  return instance.call<Body>(who, { ...call, ...changes })
}

/** The locker is empty, and each object at the provider has a row and is complete. */
async function expectNothingStored(): Promise<void> {
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: 0, file_count: 0, files: [] })
  const { database, config } = instance.gateway.context
  const recorded = await database.db.selectFrom('objects').select(['object_id', 'state']).execute()
  expect(recorded.filter(({ state }) => state === 'writing')).toEqual([])
  const entries = await readdir(config.storage.localFolder, { recursive: true, withFileTypes: true })
  const stored = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  expect(stored.sort()).toEqual(recorded.map(({ object_id }) => object_id).sort())
}

async function expectRefused(body: object, message: RegExp): Promise<void> {
  const refused = await fetchAndStore<ErrorReply>(body)
  expectRefusal(refused, 422, 'validation_error')
  expect(refused.body.detail).toEqual([
    { loc: ['body', 'source_url'], msg: expect.stringMatching(message), type: 'value_error' },
  ])
  expect(refused.body.details).toMatchObject({ layer: 'gateway', recovery_hint: expect.any(String) })
}

it('ADD-60 FILE-26 a fetch without overwrite leaves an existing file, and one that is stored meanwhile', async () => {
  await locker.put('taken', 'before')
  const body = { source_url: SOURCE, filename: 'taken', overwrite: false }
  const refused = await fetchAndStore<ErrorReply>(body)
  expectRefusal(refused, 412, 'PRECONDITION_FAILED')
  expect(refused.body.details).toMatchObject({ layer: 'gateway', filename: 'taken' })
  expect(await entryOf(locker, 'taken')).toMatchObject({ content_hash: sha256('before') })
  const raced = await Promise.all(['a', 'b'].map(() => fetchAndStore({ ...body, filename: 'raced' })))
  expect(raced.map(({ status }) => status).sort()).toEqual([200, 412])
  expect((await fetchAndStore({ ...body, overwrite: true })).status).toBe(200)
})

it('FILE-26 T-17 fetching stores the bytes and confirms them at once', async () => {
  const { status, headers, body } = await fetchAndStore({ source_url: `${SOURCE}?page=1` })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  const content_type = 'application/pdf'
  const facts = { filename: 'report.pdf', size_bytes: 8, content_hash: sha256('a report'), content_type }
  expect(body).toEqual({
    ok: true,
    locker_id: locker.lockerId,
    receipt_id: locker.receiptId,
    ...facts,
    source_url: `${SOURCE}?page=1`,
    stored_at: '2026-09-01T12:00:00Z',
    download_url: expect.stringContaining('/f/'),
    urls_expire_in_sec: 1800,
  })
  const recorded = { ...facts, status: 'confirmed', hash_recorded_at: '2026-09-01T12:00:00Z' }
  expect(await entryOf(locker, 'report.pdf')).toMatchObject(recorded)
  const download = await fetch(instance.gateway.url + new URL(body.download_url).pathname)
  expect([download.headers.get('content-type'), await download.text()]).toEqual(['application/pdf', 'a report'])
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: 1, total_bytes: 8, file_count: 1 })
})

it('FILE-26 ENV-09 fetching accepts the ids of the envelope, a name and a type; an operator may fetch', async () => {
  const file = { filename: 'docs/mine.txt', content_type: 'text/plain; charset=utf-8' }
  const ids = { locker_id: locker.lockerId, receipt_id: locker.receiptId }
  expect((await fetchAndStore({ ...ids, source_url: SOURCE, ...file })).body).toMatchObject(file)
  expect((await fetchAndStore({ source_url: SOURCE }, { lockerId: '' }, operator)).status).toBe(200)
  expect((await fetchAndStore({ source_url: SOURCE }, { receiptId: '' })).status).toBe(200)
})

it('FILE-26 fetching stores an empty file, and a chunked one without length', async () => {
  answer = (_request, response) => response.writeHead(200, { 'content-length': 0 }).end()
  const empty = { size_bytes: 0, content_hash: sha256('') }
  expect((await fetchAndStore({ source_url: SOURCE })).body).toMatchObject(empty)
  const bytes = Buffer.alloc(900_000, 'piece ')
  answer = (_request, response) => {
    for (let i = 0; i < 9; i++) response.write(bytes.subarray(i * 100_000, (i + 1) * 100_000))
    response.end()
  }
  const { body } = await fetchAndStore({ source_url: SOURCE })
  expect(body).toMatchObject({ size_bytes: 900_000, content_hash: sha256(bytes) })
})

it('AMB-24 fetching replaces the bytes of an existing file', async () => {
  await upload(instance, locker, 'report.pdf', 'older', { expected_hash: sha256('never') })
  const { body } = await fetchAndStore({ source_url: SOURCE, content_type: 'text/plain' })
  const replaced = { content_hash: body.content_hash, content_type: 'text/plain' }
  expect(await entryOf(locker, 'report.pdf')).toMatchObject(replaced)
  expect(await manifestOf(locker)).toMatchObject({ file_count: 1, total_bytes: 8 })
})

it('T-08 the response does not reveal where the source redirected to', async () => {
  answer = (request, response) =>
    request.url === '/report.pdf'
      ? response.writeHead(302, { location: 'https://other.example.test/signed?secret=1' }).end()
      : response.writeHead(200, { 'content-length': 2, 'x-secret': 'secret' }).end('ok')
  const reply = await fetchAndStore({ source_url: SOURCE })
  expect(reply.body).toMatchObject({ source_url: SOURCE, filename: 'report.pdf', size_bytes: 2 })
  expect(JSON.stringify([reply.body, [...reply.headers]])).not.toContain('secret')
})

it.each([
  ['/a/caf%C3%A9.txt', 'caf\u00e9.txt'],
  ['/a%20b.txt?c=d', 'a b.txt'],
  ['/folder/', /^file_[0-9a-f]{16}$/],
  ['/.hidden', /^file_/],
  ['/a%2Fb', /^file_/],
  ['/%ff', /^file_/],
  [`/${'x'.repeat(600)}`, /^file_/],
])('FILE-02 FILE-26 the name of a file fetched from %s is %s', async (path, name) => {
  const { body } = await fetchAndStore({ source_url: `https://files.example.test${path}` })
  expect(body.filename).toEqual(typeof name === 'string' ? name : expect.stringMatching(name))
  expect(await entryOf(locker, body.filename)).toMatchObject({ status: 'confirmed' })
})

it.each([
  [undefined, 'application/octet-stream'],
  ['image/svg+xml; charset="utf-8"', 'image/svg+xml; charset="utf-8"'],
  ['nonsense', 'application/octet-stream'],
  ['text/pl\u00e4in', 'application/octet-stream'],
])('FILE-09 T-30 a source of type %s is stored as %s', async (sentType, stored) => {
  answer = (_request, response) =>
    response.writeHead(200, { 'content-length': 2, ...(sentType && { 'content-type': sentType }) }).end('ok')
  expect((await fetchAndStore({ source_url: SOURCE })).body.content_type).toBe(stored)
})

it('FILE-05 FILE-06 a requested name and type of a fetched file must be valid', async () => {
  const asked = server.requests.length
  const bad = { source_url: SOURCE, filename: '../up', content_type: 'no type' }
  const refused = await fetchAndStore<ErrorReply>(bad)
  expectRefusal(refused, 422, 'validation_error')
  expect(refused.body.detail.map(({ loc }) => loc.join('.'))).toEqual(['body.filename', 'body.content_type'])
  expect(refused.body.details).toMatchObject({ layer: 'gateway', next_best_method: 'the same' })
  expect(server.requests).toHaveLength(asked)
  await expectNothingStored()
})

const half: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-length': 600_000 })
  response.write(Buffer.alloc(300_000), () => response.destroy())
}

it.each<[string, RequestListener, number, RegExp]>([
  [
    'FILE-28 ERR-24 a source that answers 404',
    (_, response) => response.writeHead(404).end('no'),
    30_000,
    /returned the status 404/,
  ],
  ['FILE-28 a source that breaks off half-way', half, 30_000, /the connection broke/],
  [
    'FILE-29 a source that stalls',
    (_, response) => void response.writeHead(200).write('half'),
    100,
    /within 0.1 seconds/,
  ],
])('%s is refused, leaves nothing, and keeps the earlier bytes of the file', async (_, fails, deadline, message) => {
  answer = fails
  deadlineMs = deadline
  await expectRefused({ source_url: SOURCE }, message)
  await expectNothingStored()
  await upload(instance, locker, 'report.pdf', 'kept')
  await expectRefused({ source_url: SOURCE }, message)
  expect((await publicBytes(instance, locker, 'report.pdf')).toString()).toBe('kept')
})

it('LIM-12 FILE-31 a source that is too large answers 413 and leaves nothing, with or without a declared length', async () => {
  for (const headers of [{ 'content-length': MAX_BYTES + 1 }, {}]) {
    answer = (_request, response) => response.writeHead(200, headers).end(Buffer.alloc(MAX_BYTES + 1))
    const refused = await fetchAndStore<ErrorReply>({ source_url: SOURCE })
    expectRefusal(refused, 413, 'UPLOAD_TOO_LARGE')
    expect(refused.body.details).toMatchObject({ layer: 'gateway', max_bytes: MAX_BYTES })
    await expectNothingStored()
  }
})

it('FILE-29 the connection to the source is closed when storing fails', async () => {
  const stream = Readable.from(['never read'])
  const broken: Context = {
    ...instance.gateway.context,
    announceObject: () => Promise.reject(new Error('the database is unavailable')),
    fetchSource: async () => ({ stream, contentType: null, size: null, finalUrl: SOURCE }),
  }
  const caller = {
    locker: await lockerRow(instance, locker),
    signer: { role: 'owner', identity: 'me' },
  } as LockerCaller
  await expect(storeFetched(broken, caller, { source_url: SOURCE }, AbortSignal.abort())).rejects.toThrow(
    'the database is unavailable',
  )
  expect(stream.destroyed).toBe(true)
})

it('ENV-19 ERR-24 fetching needs an envelope for the locker with locker:write', async () => {
  const asked = server.requests.length
  const unsigned = await instance.send<ErrorReply>('POST', '/v1/files/fetch-and-store', { source_url: SOURCE })
  expectRefusal(unsigned, 422, 'validation_error')
  expect(unsigned.body.detail[0]?.loc).toEqual(['header', 'X-Svc-Envelope'])
  expectRefusal(await fetchAndStore({}), 422, 'validation_error')
  expectRefusal(await fetchAndStore({ source_url: SOURCE }, {}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
  expectRefusal(await fetchAndStore({ source_url: SOURCE }, { ops: ['locker:read'] }), 403, 'MISSING_OPS')
  expect(server.requests).toHaveLength(asked)
})

it('FILE-26 fetching into another locker than the signed one is refused', async () => {
  const other = await instance.locker(locker.owner)
  const receipt = { source_url: SOURCE, receipt_id: other.receiptId }
  expectRefusal(await fetchAndStore(receipt), 401, 'RECEIPT_ID_MISMATCH')
  expectRefusal(await fetchAndStore({ source_url: SOURCE, locker_id: other.lockerId }), 401, 'LOCKER_ID_MISMATCH')
  await expectNothingStored()
})
