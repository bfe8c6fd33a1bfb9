import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, expect, it } from 'vitest'
import { Bytes } from '../../src/http/answer.ts'
import type { FileStream } from '../../src/http/byte-streams.ts'
import { serve } from '../../src/http/serve.ts'
import type { WireRequest } from '../../src/http/wire-request.ts'
import { readUntil, useTestService } from './service.ts'

const read = endpoint({
  name: 'read',
  method: 'GET',
  path: '/f/{token}',
  auth: 'path-token',
  summary: 'returns bytes',
  params: Type.Object({ token: Type.String() }),
  responses: { 200: Type.String() },
  contentType: '*/*',
})

let operation: (wire: WireRequest) => Bytes | Promise<Bytes>
let logStart = 0

const service = useTestService((routes) => serve(routes, read, ({ wire }) => operation(wire)))

beforeEach(() => {
  logStart = service.logged().length
})

const logged = () => service.logged().slice(logStart)
const PIECE = Buffer.alloc(65_536, 'x')

/** Yields pieces as long as it is read, or fails after this many. */
function endless(failAfter = Number.POSITIVE_INFINITY): Readable {
  let pieces = 0
  return new Readable({
    read() {
      if (++pieces > failAfter) this.destroy(new Error('the disk is gone'))
      else this.push(PIECE)
    },
  })
}

/** Like `endless`, but read into a buffer of the reader. */
function endlessFile(failAfter = Number.POSITIVE_INFINITY): FileStream {
  let pieces = 0
  return fileStream(async (buffer) => {
    if (++pieces > failAfter) throw new Error('the disk is gone')
    return PIECE.copy(buffer)
  })
}

function fileStream(readInto: (buffer: Buffer) => Promise<number>): FileStream {
  const read = () => {
    throw new Error('its own chunks must not be read')
  }
  return Object.assign(new Readable({ read }), { readInto })
}

const SOURCES = [
  { kind: 'a stream', endless },
  { kind: 'a file', endless: endlessFile },
]

async function open(path: string): Promise<IncomingMessage> {
  const [response] = await once(get(service.url + path), 'response')
  return response
}

it('FILE-30 the service sends bytes with their status and headers, to every origin', async () => {
  operation = () =>
    new Bytes(206, { 'content-type': 'a/b', 'content-length': '5', etag: '"e"' }, Readable.from([Buffer.from('hello')]))
  const response = await fetch(`${service.url}/f/token`, { headers: { origin: 'https://page.example' } })
  expect([response.status, await response.text()]).toEqual([206, 'hello'])
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'a/b',
    'content-length': '5',
    etag: '"e"',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('ETag'),
    'x-request-id': expect.stringMatching(/^req_/),
  })
  expect(JSON.parse(logged())).toMatchObject({ method: 'GET', route: '/f/:token', status: 206 })
})

it('ADD-06 the service sends headers without bytes', async () => {
  operation = () => new Bytes(200, { 'content-type': 'a/b', 'content-length': '5' }, null)
  const response = await fetch(`${service.url}/f/token`, { method: 'HEAD' })
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '5', ''])
})

it.each(SOURCES)(
  'T-11 the service stops reading the source when the client disconnects: $kind',
  async ({ endless }) => {
    const source = endless()
    operation = () => new Bytes(200, {}, source)
    const response = await open('/f/token')
    await once(response, 'data')
    const closed = once(source, 'close').catch(() => {})
    response.destroy()
    await closed
    expect(source.destroyed).toBe(true)
    await expect.poll(logged).toContain('"status":200')
    expect(logged()).not.toContain('"level":50')
  },
)

it.each(SOURCES)(
  'T-11 the service closes the source when the client was gone before the answer: $kind',
  async ({ endless }) => {
    const source = endless()
    const begun = Promise.withResolvers<void>()
    operation = async (wire) => {
      const gone = once(wire.stream.socket, 'close')
      begun.resolve()
      await gone
      return new Bytes(200, {}, source)
    }
    const request = get(`${service.url}/f/token`).on('error', () => {})
    const closed = new Promise((resolve) => source.once('close', resolve))
    await begun.promise
    request.destroy()
    await closed
    await expect.poll(logged).toContain('"status":200')
    expect(logged()).not.toContain('"level":50')
  },
)

it.each(SOURCES)(
  'T-12 the service closes the connection when the source fails half-way, and logs why without the URL: $kind',
  async ({ endless }) => {
    operation = () => new Bytes(200, { 'content-length': String(PIECE.length * 100) }, endless(10))
    const response = await open('/f/SECRETTOKEN')
    await expect(buffer(response)).rejects.toThrow('aborted')
    await expect.poll(logged).toContain('the disk is gone')
    expect(logged()).not.toContain('SECRETTOKEN')
  },
)

it('T-11 the service sends no error into an answer that is being sent', async () => {
  const source = endless()
  operation = () => new Bytes(200, { 'content-type': 'a/b', 'content-length': '1000000000000' }, source)
  const socket = service.connect('GET /f/token HTTP/1.1\r\nHost: x\r\n\r\n')
  await readUntil(socket, 'xxxx')
  const rest = buffer(socket).catch(() => Buffer.alloc(0))
  const closed = new Promise((resolve) => source.once('close', resolve))
  socket.write('NONSENSE\r\n\r\n')
  await closed
  expect((await rest).includes('malformed')).toBe(false)
})

it('T-11 the service sends the complete files of several clients, however slowly they read', async () => {
  const length = 3_000_000
  const contents = ['one', 'two', 'three'].map((text) => Buffer.alloc(length, text))
  operation = ({ target }) => {
    const content = contents[Number(target.at(-1))] as Buffer
    let position = 0
    const file = fileStream(async (buffer) => {
      const copied = content.copy(buffer, 0, position)
      position += copied
      return copied
    })
    return new Bytes(200, { 'content-length': String(length) }, file)
  }
  const responses = await Promise.all(contents.map((_, i) => open(`/f/${i}`)))
  // All wait for their clients now; the last one is read first.
  for (const [i, content] of [...contents.entries()].reverse()) {
    expect((await buffer(responses[i] as IncomingMessage)).equals(content)).toBe(true)
  }
})

it('T-11 T-89 the service closes its file when the client disconnects, and never opens one for the request after it', async () => {
  const source = endlessFile()
  const closed = new Promise((resolve) => source.once('close', resolve))
  const opened: string[] = []
  operation = ({ target }) => {
    opened.push(target)
    return new Bytes(200, {}, source)
  }
  const head = (i: number) => `GET /f/${i} HTTP/1.1\r\nHost: x\r\n\r\n`
  const socket = service.connect(head(0), head(1))
  await readUntil(socket, 'xxxx')
  socket.destroy()
  await closed
  expect(opened).toEqual(['/f/0'])
})

it('T-11 survives a file that cannot be closed', async () => {
  const file = fileStream(async () => 0)
  const closed = Promise.withResolvers<void>()
  file._destroy = (_, done) => {
    done(new Error('the disk is gone'))
    setImmediate(closed.resolve)
  }
  operation = () => new Bytes(200, {}, file)
  await buffer(await open('/f/unclosable'))
  // Without a listener, the stream's error would be an uncaught one.
  await closed.promise
  expect(file.errored).not.toBeNull()
})
