import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Endpoint } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'
import { gatewayEndpoints } from '@svc/api/gateway'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway, type Reply } from '@svc/devnet/services/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { openTestSession } from './sessions/sessions.ts'
import { createFile } from './transfers.ts'

const LAYERS = ['app_orchestrator', 'sandbox_runtime', 'mcp', 'gateway', 'provider', 'viewer']

function expectAdvice({ status, body }: Pick<Reply<ErrorBody>, 'status' | 'body'>, wanted: number): void {
  expect(status, JSON.stringify(body)).toBe(wanted)
  expect(LAYERS).toContain(body.details?.layer)
  const advice = { recovery_hint: expect.stringMatching(/\w{3}/), next_best_method: expect.stringMatching(/\w{3}/) }
  expect(body.details).toMatchObject(advice)
}

/** The endpoints that prepare an upload, take bytes, or record what was uploaded. */
const NAMES = [
  ...['createFile', 'createFiles', 'getFile', 'fetchAndStore', 'confirmFile', 'confirmFiles', 'writeByToken'],
  ...['openUploadSession', 'uploadPart', 'finalizeUpload', 'readUploadSession', 'finalizeUploadJob'],
]
const BY_NAME = NAMES.map((name) => [name, gatewayEndpoints.find((endpoint) => endpoint.name === name)!] as const)

const instance = forAllTests(() => openTestGateway({ INTERNAL_SECRET: 'a-secret-of-the-admin' }))
const locker = forAllTests(() => instance.locker(ed25519Identity()))
const session = forAllTests(() => openTestSession(instance, locker, { files: [{ filename: 'a' }] }))
const urls = forAllTests(() => createFile(instance, locker, 'b', { contentType: 'application/octet-stream' }))
const uploadUrl = () => new URL(urls.upload).pathname

const pathOf = ({ path }: Endpoint) =>
  path
    .replace('{locker_id}', locker.lockerId)
    .replace('{+filename}', 'b')
    .replace('{session_id}', session.opened.session_id)
    .replace('{file_id}', session.opened.files[0]!.file_id)
    .replace('/f/{token}', '/f/AAAA')

it.each(BY_NAME)('ERR-29 SESS-06 %s tells a refused caller what to do next', async (_, endpoint) => {
  const body = endpoint.method === 'GET' ? undefined : {}
  const reply = await instance.send<ErrorBody>(endpoint.method, pathOf(endpoint), body)
  expect(reply.status).toBeGreaterThanOrEqual(401)
  expectAdvice(reply, reply.status)
})

it('ERR-29 SESS-06 a rate limit error says how long to wait', async () => {
  const limited = await openTestGateway({ RATE_LIMITS: 'signer=1/min,address=1/min' })
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
  ['an upload', 'PUT', uploadUrl, 'octet-stream', 'POST /v1/lockers/{locker_id}/upload-sessions'],
  ['a part', 'POST', () => `${session.partsPath(0)}?index=0`, 'octet-stream', /^GET .*upload-sessions/],
  ['a name', 'POST', () => `/v1/lockers/${locker.lockerId}/files`, 'json', /upload-sessions/],
])('ERR-29 SESS-06 the error for a truncated body says what to do next: %s', async (_, method, path, type, next) => {
  const { hostname, port } = new URL(instance.gateway.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  await once(socket, 'connect')
  const head = [`${method} ${path()} HTTP/1.1`, `host: ${hostname}`, `content-type: application/${type}`]
  const more = ['content-length: 100', `x-upload-token: ${session.opened.upload_token}`]
  socket.end(`${[...head, ...more].join('\r\n')}\r\n\r\n{"only":`)
  const [top = '', answer = ''] = (await text(socket)).split('\r\n\r\n')
  const body = JSON.parse(answer) as ErrorBody
  expectAdvice({ status: Number(top.split(' ')[1]), body }, 400)
  expect(body.details?.next_best_method).toMatch(next)
})
