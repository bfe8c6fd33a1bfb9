// Servers that send wrong or endless answers to HTTP drivers. A driver must not return such an answer as the object,
// must not wait forever, and must report the provider as unavailable.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { forAllTests } from '@svc/devnet/for-tests'
import { contentIdOf } from '@svc/devnet/providers/filecoin/commitment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openArweave } from '../src/arweave/open.ts'
import { openFilecoin } from '../src/filecoin/open.ts'
import { TIMEOUTS } from '../src/filecoin/timeouts.ts'
import type { ByteRange } from '../src/provider.ts'
import { openS3Bucket } from '../src/s3-bucket/open.ts'
import { HTTP_TIMEOUTS } from '../src/timeouts.ts'
import { SEED } from './arweave/start-arweave.ts'
import { SHORT_TIMEOUTS } from './failures.ts'
import { startTestGcs } from './gcs/start-gcs.ts'
import { keep, newId } from './objects.ts'

/** A driver that reads one object from the bad server. */
interface BadlyServed {
  read(range?: ByteRange): Promise<Readable | null>
  stat(): Promise<{ size: number } | null>
}

const BYTES = randomBytes(1000)
const RANGE = { start: 10, end: 19 }
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

type BadAnswer = (request: IncomingMessage, response: ServerResponse) => void

const part = (start: number, end: number) => BYTES.subarray(start, end + 1)
const answerWith = (status: number, headers: Record<string, string | number>, body: Uint8Array | string): BadAnswer => {
  return (_, response) => void response.writeHead(status, headers).end(body)
}
const inChunks = { 'transfer-encoding': 'chunked' }

const TO_A_RANGE: Record<string, BadAnswer> = {
  'sends another range': answerWith(206, { 'content-range': 'bytes 20-29/1000', 'content-length': 10 }, part(20, 29)),
  'does not state its range': answerWith(206, { 'content-length': 10 }, part(10, 19)),
  'sends less than it announces': answerWith(206, { ...inChunks, 'content-range': 'bytes 10-19/1000' }, part(10, 15)),
  'sends more than it announces': answerWith(206, { ...inChunks, 'content-range': 'bytes 10-19/1000' }, part(10, 900)),
  'answers 200 with only as many bytes as the range has': answerWith(200, { 'content-length': 10 }, part(0, 9)),
  'answers that there is no such range': answerWith(416, { 'content-range': 'bytes */5' }, ''),
}

const TO_A_WHOLE_READ: Record<string, BadAnswer> = {
  'sends a part': answerWith(206, { 'content-range': 'bytes 10-19/1000', 'content-length': 10 }, part(10, 19)),
  'sends less than the object has': answerWith(200, inChunks, part(0, 500)),
  'sends its bytes one by one': (request) => drip(request, 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'x'),
  'keeps breaking the connection': (request, response) => {
    response.writeHead(200, { 'content-length': 1000 }).write(part(0, 500), () => request.socket.destroy())
  },
}

const TO_ANYTHING: Record<string, BadAnswer> = {
  redirects: answerWith(302, { location: 'http://127.0.0.1:1/', 'content-length': 0 }, ''),
  'answers with 204': answerWith(204, {}, ''),
  'sends headers without end': (request) => {
    request.socket.write('HTTP/1.1 200 OK\r\n')
    const more = () => {
      while (!request.socket.destroyed && request.socket.write(`x-more: ${'x'.repeat(1000)}\r\n`));
      if (!request.socket.destroyed) request.socket.once('drain', more)
    }
    more()
  },
  'sends its headers byte by byte': (request) => drip(request, 'HTTP/1.1 200 OK\r\nx: ', 'x'),
}

/** Sends a character from time to time, always within the idle timeout. */
function drip({ socket }: IncomingMessage, beginning: string, drop: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.once('close', () => clearInterval(timer))
}

/** Ends with the test. */
async function startBadServer(answer: BadAnswer): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has one
}

const gcs = forAllTests(() => startTestGcs())

const UNKNOWN = {
  title: 'Storj',
  region: 'us-east-1',
  bucket: 'none',
  prefix: '',
  accessKeyId: 'nobody',
  secretAccessKey: 'nothing',
}
const ADDRESS = `0x${'11'.repeat(20)}` as const
const CHAIN = { chainId: 314, rpcUrl: 'http://127.0.0.1:1', recordKeeper: ADDRESS, payee: ADDRESS } as const

const drivers: Record<string, (url: string) => Promise<BadlyServed>> = {
  async 'Google Cloud Storage'(endpoint) {
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    const key = { id: newId(), ref: null }
    return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
  },
  async Storj(endpoint) {
    const timeouts = { ...HTTP_TIMEOUTS, ...SHORT_TIMEOUTS }
    const provider = await openS3Bucket({ ...UNKNOWN, endpoint, redirect: 'off' }, timeouts)
    const key = { id: newId(), ref: null }
    return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
  },
  async Arweave(url) {
    const settings = { uploadUrl: url, gateways: [url], token: 'solana', seed: SEED }
    const store = await openArweave(settings, { ...HTTP_TIMEOUTS, ...SHORT_TIMEOUTS })
    const ref = 'A'.repeat(43)
    return { read: (range) => store.read(ref, range), stat: () => store.stat(ref) }
  },
  async Filecoin(pdpUrl) {
    const settings = { ...CHAIN, pdpUrl, key: `0x${'5c'.repeat(32)}` as const, dataSet: null, retrievalUrl: null }
    const store = await openFilecoin(settings, { ...TIMEOUTS, ...SHORT_TIMEOUTS })
    const ref = contentIdOf(BYTES.length, 5, randomBytes(32))
    return { read: (range) => store.read(ref, range), stat: () => store.stat(ref) }
  },
}

describe.each(Object.entries(drivers))('the %s driver with a server that sends wrong answers', (_, open) => {
  const openAt = async (answer: BadAnswer) => open(await startBadServer(answer))
  const readAll = async (driver: BadlyServed, range?: ByteRange) => buffer((await driver.read(range))!)

  it.each(Object.keys({ ...TO_A_RANGE, ...TO_ANYTHING }))(
    'T-139 fails to read a range when the server %s',
    async (name) => {
      const driver = await openAt({ ...TO_A_RANGE, ...TO_ANYTHING }[name] as BadAnswer)
      await expect(readAll(driver, RANGE)).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it.each(Object.keys({ ...TO_A_WHOLE_READ, ...TO_ANYTHING }))(
    'T-139 fails to read an object when the server %s',
    async (name) => {
      const driver = await openAt({ ...TO_A_WHOLE_READ, ...TO_ANYTHING }[name] as BadAnswer)
      await expect(readAll(driver)).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('T-139 reports an early error to a later reader', async () => {
    const stream = (await (await openAt(TO_A_WHOLE_READ['keeps breaking the connection'] as BadAnswer)).read())!
    await new Promise((resolve) => stream.once('close', resolve))
    await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('T-139 returns the range or fails when the server sends the whole object', async () => {
    const driver = await openAt(answerWith(200, { 'content-length': 1000 }, BYTES))
    const given = await readAll(driver, RANGE).catch((error) => error)
    expect([part(10, 19), expect.objectContaining(UNAVAILABLE)]).toContainEqual(given)
  })

  it.each([
    ['nothing', '{}'],
    ['an invalid size', '{"size":"-1","generation":{}}'],
    ['no object at all', 'null'],
  ])('T-139 does not invent a size when the server states %s', async (_, said) => {
    const driver = await openAt(answerWith(200, inChunks, said))
    const found = await driver.stat().catch((error) => error)
    // Some drivers know the size from the name of the object.
    expect([{ size: BYTES.length }, expect.objectContaining(UNAVAILABLE)]).toContainEqual(found)
  })
})

it.each(['', 'nowhere:', 'file:///etc/hosts', 'https://127.0.0.1:1/'])(
  'T-139 the Google Cloud Storage driver rejects %j as the address of an upload session',
  async (location) => {
    const endpoint = await startBadServer(answerWith(200, { location, 'content-length': 2 }, '{}'))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    await expect(keep(provider, Buffer.alloc(3 * 1024 * 1024))).rejects.toMatchObject(UNAVAILABLE)
  },
)

it.each([
  [{ 'content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'identity' }, false],
  [{ 'x-goog-stored-content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'gzip' }, true],
])(
  'FILE-22 the Google Cloud Storage driver accepts bytes with headers %o only when they are not transformed',
  async (headers, isAccepted) => {
    const endpoint = await startBadServer(answerWith(200, { ...headers, 'content-length': 5 }, 'bytes'))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    const reading = provider.read({ id: newId(), ref: null })
    if (!isAccepted) return expect(reading).rejects.toMatchObject(UNAVAILABLE)
    expect(`${await (await reading)!.toArray()}`).toBe('bytes')
  },
)

it.each([[{ items: {} }], [{ items: [null] }], [null]])(
  'T-139 the Google Cloud Storage driver rejects the list %j of objects',
  async (page) => {
    const endpoint = await startBadServer(answerWith(200, { 'transfer-encoding': 'chunked' }, JSON.stringify(page)))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    const keys = Array.from({ length: 30 }, () => ({ id: newId(), ref: null }))
    await expect(provider.absent(keys)).rejects.toMatchObject(UNAVAILABLE)
  },
)

it.each(['Filecoin', 'Arweave'])('FILE-22 the %s driver rejects bytes with a content encoding', async (name) => {
  const answer = answerWith(200, { 'content-encoding': 'gzip', 'content-length': 1000 }, BYTES)
  const packed = await drivers[name]!(await startBadServer(answer))
  for (const asking of [packed.read(), packed.read({ start: 0, end: 9 })]) {
    await expect(asking).rejects.toMatchObject(UNAVAILABLE)
  }
})
