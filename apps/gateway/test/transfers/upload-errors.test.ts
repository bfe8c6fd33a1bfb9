import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Endpoint } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'
import { gatewayEndpoints } from '@svc/api/gateway'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type Reply, type TestLocker } from '../auth/lockers.ts'
import { openTestSession, type TestSession } from './sessions/sessions.ts'

const LAYERS = ['app_orchestrator', 'sandbox_runtime', 'mcp', 'gateway', 'provider', 'viewer']

function expectAdvice({ status, body }: Pick<Reply<ErrorBody>, 'status' | 'body'>, wanted: number): void {
  expect(status, JSON.stringify(body)).toBe(wanted)
  expect(LAYERS).toContain(body.details?.layer)
  expect(body.details).toMatchObject({
    recovery_hint: expect.stringMatching(/\w{3}/),
    next_best_method: expect.stringMatching(/\w{3}/),
  })
}

/** The endpoints that prepare an upload, take bytes, or record what was uploaded. */
const NAMES = [
  ...['createFile', 'createFiles', 'getFile', 'fetchAndStore', 'confirmFile', 'confirmFiles', 'writeByToken'],
  ...['openUploadSession', 'uploadPart', 'finalizeUpload', 'readUploadSession', 'finalizeUploadJob'],
]
const endpoints = NAMES.map((name) => gatewayEndpoints.find((endpoint) => endpoint.name === name) as Endpoint)

describe('errors of upload endpoints', () => {
  let house: LockerHouse
  let locker: TestLocker
  let session: TestSession
  let uploadUrl: string
  beforeAll(async () => {
    house = await openLockerHouse({ INTERNAL_SECRET: 'a-secret-of-the-operator' })
    locker = await house.locker(ed25519Identity())
    session = await openTestSession(house, locker, { files: [{ filename: 'a' }] })
    const made = await locker.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', { filename: 'b' })
    uploadUrl = new URL(made.body.upload_url).pathname
  })
  afterAll(() => house.close())

  const pathOf = ({ path }: Endpoint) =>
    path
      .replace('{locker_id}', locker.lockerId)
      .replace('{+filename}', 'b')
      .replace('{session_id}', session.opened.session_id)
      .replace('{file_id}', session.opened.files[0]!.file_id)
      .replace('/f/{token}', uploadUrl)

  it.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
    'FILE-31 ERR-29 SESS-06 %s says what to do next to a caller without a credential, or with a wrong token',
    async (_, endpoint) => {
      const path = pathOf(endpoint).replace(uploadUrl, '/f/AAAA')
      const reply = await house.send<ErrorBody>(endpoint.method, path, endpoint.method === 'GET' ? undefined : {})
      expect(reply.status).toBeGreaterThanOrEqual(401)
      expectAdvice(reply, reply.status)
    },
  )

  it.each([
    ['POST', '/files', ['locker:write'], { ttl_min: 0 }],
    ['POST', '/files', ['locker:write'], { filename: '../x' }],
    ['POST', '/files', ['locker:write'], []],
    ['POST', '/files/batch', ['locker:write'], { files: [] }],
    ['GET', '/files/b?ttl_min=1441', ['locker:read'], undefined],
    ['POST', '/upload-sessions', ['locker:write'], { files: [{ filename: 7 }] }],
  ] as const)(
    'FILE-31 ERR-29 SESS-06 a 422 of the schema says what to do next: %s %s',
    async (method, path, ops, body) => {
      expectAdvice(await locker.call<ErrorBody>([...ops], method, path, body), 422)
    },
  )

  it('FILE-31 ERR-29 SESS-06 inputs of unsigned upload requests that do not fit say what to do next', async () => {
    const { headers } = session
    const send = (path: string, body?: unknown, more = {}) =>
      house.send<ErrorBody>('POST', path, body, { ...headers, ...more })
    expectAdvice(await send('/v1/files/confirm'), 422)
    expectAdvice(await send('/v1/files/confirm-batch?receipt_id=x', { filenames: 7 }), 422)
    expectAdvice(await send(session.partsPath(0), { index: -1, data: '' }), 422)
    expectAdvice(await send(`${session.partsPath(0)}?index=x`, 'x'), 422)
    expectAdvice(await send('/v1/files/confirm', 'x', { 'content-type': 'text/plain' }), 415)
    expectAdvice(await send('/v1/files/confirm', Buffer.alloc(1_100_000)), 413)
  })

  it('FILE-31 ERR-29 SESS-06 a limit says to wait, and how long', async () => {
    const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '1', RATE_LIMIT_ADDRESS: '1' })
    onTestFinished(limited.close)
    const own = await limited.locker(ed25519Identity())
    const create = () => own.call<ErrorBody>(['locker:write'], 'POST', '/files', { filename: 'a' })
    await create()
    const refused = await create()
    expectAdvice(refused, 429)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused.body.details?.recovery_hint).toContain('Retry-After')
    const confirm = () => limited.send<ErrorBody>('POST', `/v1/files/confirm?receipt_id=${own.receiptId}&filename=a`)
    await confirm()
    expectAdvice(await confirm(), 429)
  })

  it.each([
    [
      'PUT a short URL',
      'PUT',
      () => uploadUrl,
      'application/octet-stream',
      'POST /v1/lockers/{locker_id}/upload-sessions',
    ],
    ['a part', 'POST', () => `${session.partsPath(0)}?index=0`, 'application/octet-stream', /^GET .*upload-sessions/],
    ['a name', 'POST', () => `/v1/lockers/${locker.lockerId}/files`, 'application/json', /upload-sessions/],
  ])('FILE-31 ERR-29 SESS-06 a body that breaks off says what to do next: %s', async (_, method, path, type, next) => {
    const { hostname, port } = new URL(house.gateway.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    await once(socket, 'connect')
    const head = [`${method} ${path()} HTTP/1.1`, `host: ${hostname}`, `content-type: ${type}`, 'content-length: 100']
    const token = `x-upload-token: ${session.opened.upload_token}`
    socket.end(`${[...head, token].join('\r\n')}\r\n\r\n{"only":`)
    const [top = '', answer = ''] = (await text(socket)).split('\r\n\r\n')
    const body = JSON.parse(answer) as ErrorBody
    expectAdvice({ status: Number(top.split(' ')[1]), body }, 400)
    expect(body.details?.next_best_method).toMatch(next)
  })
})
