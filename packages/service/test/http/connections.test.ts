import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { startProcess } from '../../../devnet/src/start-process.ts'
import { connectionLimit, type Exchange, limitConnections } from '../../src/http/connections.ts'
import { serve } from '../../src/http/serve.ts'
import { GET, readUntil, useTestService } from './service.ts'

const slow = endpoint({
  ...GET,
  name: 'slow',
  path: '/slow',
  responses: { 200: Type.Object({ place: Type.Integer() }) },
})
const long = endpoint({
  ...GET,
  name: 'long',
  path: '/long',
  responses: { 200: Type.String() },
  contentType: 'text/plain',
})
const LONG_BYTES = 32 * 1024 * 1024

let started = 0
let open: PromiseWithResolvers<void>

const service = useTestService((routes) => {
  serve(routes, slow, async () => {
    const place = ++started
    await open.promise
    return { place }
  })
  serve(routes, long, () => 'a'.repeat(LONG_BYTES))
})
beforeEach(() => {
  started = 0
  open = Promise.withResolvers()
})

const GET_SLOW = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'

async function isServed(): Promise<boolean> {
  return (await fetch(`${service.url}/nowhere`)).status === 404
}

describe('pipelined requests', () => {
  it('T-89 are started one after the other, and answered in order', async () => {
    const socket = service.connect(GET_SLOW.repeat(10))
    await expect.poll(() => started).toBe(1)
    expect(await isServed()).toBe(true)
    expect(started).toBe(1)
    open.resolve()
    const answers = await readUntil(socket, '{"place":10}')
    expect([...answers.matchAll(/"place":(\d+)/g)].map(([, place]) => Number(place))).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 1),
    )
    socket.destroy()
  })

  it('T-89 are not queued without limit: a flood starts one request, and ends the connection', async () => {
    const socket = service.connect(GET_SLOW.repeat(1_000))
    expect(await readUntil(socket, '}')).toBe('')
    expect(started).toBe(1)
    expect(await isServed()).toBe(true)
  })
})

it('T-89 a client that does not read its answer is disconnected', async () => {
  const before = service.sockets.length
  const client = service.connect('GET /long HTTP/1.1\r\nHost: x\r\n\r\n', GET_SLOW)
  client.on('error', () => {}).pause()
  await expect.poll(() => service.sockets[before]?.writableLength ?? 0).toBeGreaterThan(0)
  const own = service.sockets[before] as Socket
  expect(own.timeout).toBe(120_000)
  expect(started).toBe(0)
  own.emit('timeout')
  await once(own, 'close')
  expect(await isServed()).toBe(true)
  client.destroy()
})

it('T-89 the time-out of an answer does not apply to the request that waited for it', async () => {
  const before = service.sockets.length
  const client = service.connect('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n', GET_SLOW)
  await expect.poll(() => started).toBe(1)
  expect(service.sockets[before]?.timeout ?? 0).toBe(0)
  client.destroy()
})

it('T-89 more connections than descriptors allow close the oldest idle ones, and other clients are served', {
  tags: ['nightly'],
}, async () => {
  const limit = connectionLimit()
  const excess = 100
  const { port } = new URL(service.url)
  const program = new URL('./open-connections.ts', import.meta.url)
  const connections = startProcess(program, { args: [port, `${limit + excess}`] })
  await connections.waitForLine(/open/)
  const held = `${limit} connections, half of what this machine lets a process open, 10,000 at most`
  await expect.poll(() => service.connections(), { message: held }).toBeLessThanOrEqual(limit)
  expect(readdirSync('/proc/self/fd').length, held).toBeLessThan(limit + 500)
  for (let i = 0; i < 10; i++) expect(await isServed()).toBe(true)
  await connections.kill()
  await expect.poll(() => service.connections()).toBeLessThan(excess)
})

describe('a server with a limit of two connections', () => {
  let server: Server
  let exchanges: Exchange[]
  beforeEach(async () => {
    exchanges = []
    server = createServer()
    const take = limitConnections(server, 2, (exchange) => exchanges.push(exchange))
    server.on('request', (request, response) => take({ request, response }))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    vi.useFakeTimers({ toFake: ['performance'] })
    return () => {
      vi.useRealTimers()
      server.closeAllConnections()
      server.close()
    }
  })

  async function connected(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    return socket
  }

  async function busy(): Promise<Socket> {
    const before = exchanges.length
    const socket = await connected()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => exchanges.length).toBe(before + 1)
    return socket
  }

  it('T-89 a new connection replaces an idle one before a busy one', async () => {
    const first = await busy()
    const idle = await connected()
    const second = await busy()
    if (!idle.closed) await once(idle, 'close')
    for (const { response } of exchanges) response.end('ok')
    for (const socket of [first, second]) expect(socket.closed).toBe(false)
  })

  it('T-89 when all are busy, it replaces the connection whose request has taken longest, if that is long', async () => {
    const first = await busy()
    const second = await busy()
    const refused = await connected()
    if (!refused.closed) await once(refused, 'close')
    vi.advanceTimersByTime(31_000)
    const third = await busy()
    if (!first.closed) await once(first, 'close')
    for (const socket of [second, third]) expect(socket.closed).toBe(false)
  })
})
