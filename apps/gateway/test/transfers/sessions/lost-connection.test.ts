import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { openTestSession, publicBytes, type TestSession } from './sessions.ts'

const house = forAllTests(openTestGateway)
const locker = forAllTests(() => house.locker(ed25519Identity()))

const objects = () => house.gateway.context.database.db.selectFrom('objects').selectAll().execute()

/** Sends the headers of a part and the first bytes of its body. */
async function beginPart(
  session: TestSession,
  head: Record<string, string>,
  query: string,
  sent: Buffer,
): Promise<Socket> {
  const { hostname, port } = new URL(house.gateway.url)
  const socket = connect(Number(port), hostname)
  const headers = { host: hostname, ...session.headers, ...head }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${session.partsPath(0)}${query} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await new Promise((resolve) => socket.write(sent, resolve))
  return socket
}

const bytes = randomBytes(200_000)
const json = Buffer.from(JSON.stringify({ index: 1, data: bytes.toString('base64') }))
const raw = { 'content-type': 'application/octet-stream' }
it.each([
  ['raw', { ...raw, 'content-length': '200000' }, '?index=1', bytes.subarray(0, 150_000)],
  ['JSON', { 'content-type': 'application/json', 'content-length': String(json.length) }, '', json.subarray(0, -1)],
])('SESS-02 a connection that breaks leaves the session unchanged: %s', async (name, head, query, sent) => {
  const session = await openTestSession(house, locker, { files: [{ filename: name }] })
  await session.raw(0, 'begin ')
  const before = await objects()
  const socket = await beginPart(session, head, query, sent)
  // The object has a row before its first byte is written.
  await expect.poll(objects).toHaveLength(before.length + 1)
  socket.destroy()
  await expect.poll(objects).toEqual(before)
  expect((await session.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 6 }])

  await session.raw(1, bytes)
  expect((await session.finalize()).body.status).toBe('complete')
  expect(await publicBytes(house, locker, name)).toEqual(Buffer.concat([Buffer.from('begin '), bytes]))
})

it('SESS-02 a part that is still arriving when the session expires is refused and leaves nothing', async () => {
  const session = await openTestSession(house, locker, { files: [{ filename: 'ended' }], ttl_min: 1 })
  const before = await objects()
  const head = { ...raw, 'content-length': '200000', connection: 'close' }
  const socket = await beginPart(session, head, '?index=0', bytes.subarray(0, 100_000))
  await expect.poll(objects).toHaveLength(before.length + 1)
  house.clock.advance(61)
  socket.write(bytes.subarray(100_000))
  let answer = ''
  for await (const chunk of socket) answer += chunk
  expect(answer).toMatch(/^HTTP\/1\.1 409 /)
  expect(answer).toContain('SESSION_CLOSED')
  expect(await objects()).toEqual(before)
})

it.each([
  ['a part', 20_000_000],
  ['its file', 5_000_000],
])('SESS-02 T-11 the connection goes on after a part too large for %s', { tags: ['nightly'] }, async (_, size) => {
  const session = await openTestSession(house, locker, { files: [{ filename: 'refused', size_bytes: 5 }] })
  const head = { ...raw, 'content-length': String(size) }
  const socket = await beginPart(session, head, '?index=0', Buffer.alloc(size))
  const [line, path] = ['HTTP/1.1', `/v1/upload-sessions/${session.opened.session_id}`]
  const token = `x-upload-token: ${session.opened.upload_token}`
  socket.write(`GET ${path} ${line}\r\nhost: x\r\nconnection: close\r\n${token}\r\n\r\n`)
  let answers = ''
  for await (const chunk of socket) answers += chunk
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  expect(answers).toContain('UPLOAD_TOO_LARGE')
})
