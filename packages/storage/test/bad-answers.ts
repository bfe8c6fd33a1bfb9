// What drivers that speak HTTP make of a store that does not tell the truth, or does not come to an end: none of it is
// taken for the object, nobody waits for it for good, and it is trouble of the provider.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ByteRange } from '../src/provider.ts'

/** A driver that has an object looked for at this address, whatever it is called there. */
export interface Deceived {
  read(range?: ByteRange): Promise<Readable | null>
  stat(): Promise<{ size: number } | null>
}

/** Short, as some of these stores are waited for. */
export const LITTLE_PATIENCE = { connectMs: 5000, answerMs: 300, idleMs: 300, attempts: 2, backoffMs: 1 }

export const TRUTH = randomBytes(1000)
const RANGE = { start: 10, end: 19 }
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

type Lie = (request: IncomingMessage, response: ServerResponse) => void

const part = (start: number, end: number) => TRUTH.subarray(start, end + 1)
export const says = (status: number, headers: Record<string, string | number>, body: Uint8Array | string): Lie => {
  return (_, response) => void response.writeHead(status, headers).end(body)
}
const inChunks = { 'transfer-encoding': 'chunked' }

const ABOUT_A_RANGE: Record<string, Lie> = {
  'gives another range': says(206, { 'content-range': 'bytes 20-29/1000', 'content-length': 10 }, part(20, 29)),
  'does not say which range it gives': says(206, { 'content-length': 10 }, part(10, 19)),
  'gives less than it says': says(206, { ...inChunks, 'content-range': 'bytes 10-19/1000' }, part(10, 15)),
  'gives more than it says': says(206, { ...inChunks, 'content-range': 'bytes 10-19/1000' }, part(10, 900)),
  'gives as much, and calls it all': says(200, { 'content-length': 10 }, part(0, 9)),
  'says that there is no such range': says(416, { 'content-range': 'bytes */5' }, ''),
}

const ABOUT_ALL: Record<string, Lie> = {
  'gives a part': says(206, { 'content-range': 'bytes 10-19/1000', 'content-length': 10 }, part(10, 19)),
  'gives less than there is': says(200, inChunks, part(0, 500)),
  'gives its bytes by drips': (request) => drip(request, 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'x'),
  'breaks off again and again': (request, response) => {
    response.writeHead(200, { 'content-length': 1000 }).write(part(0, 500), () => request.socket.destroy())
  },
}

const ABOUT_ANYTHING: Record<string, Lie> = {
  'sends us elsewhere': says(302, { location: 'http://127.0.0.1:1/', 'content-length': 0 }, ''),
  'has nothing to say': says(204, {}, ''),
  'has headers without end': (request) => {
    request.socket.write('HTTP/1.1 200 OK\r\n')
    const more = () => {
      while (!request.socket.destroyed && request.socket.write(`x-more: ${'x'.repeat(1000)}\r\n`));
      if (!request.socket.destroyed) request.socket.once('drain', more)
    }
    more()
  },
  'gives its headers by drips': (request) => drip(request, 'HTTP/1.1 200 OK\r\nx: ', 'x'),
}

/** A character now and then, each well within the time in which a store may be silent. */
function drip({ socket }: IncomingMessage, beginning: string, drop: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.once('close', () => clearInterval(timer))
}

/** Gone with the test. */
export async function startLiar(lie: Lie): Promise<string> {
  const server = createServer(lie).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has one
}

export function describeLies(name: string, open: (url: string) => Promise<Deceived>): void {
  const openAt = async (lie: Lie) => open(await startLiar(lie))
  const readAll = async (deceived: Deceived, range?: ByteRange) => buffer((await deceived.read(range))!)

  describe(`a store that lies to ${name}`, () => {
    it.each(Object.keys({ ...ABOUT_A_RANGE, ...ABOUT_ANYTHING }))(
      'T-31 is no help with a range where it %s',
      async (lie) => {
        const deceived = await openAt({ ...ABOUT_A_RANGE, ...ABOUT_ANYTHING }[lie] as Lie)
        await expect(readAll(deceived, RANGE)).rejects.toMatchObject(UNAVAILABLE)
      },
    )

    it.each(Object.keys({ ...ABOUT_ALL, ...ABOUT_ANYTHING }))(
      'T-31 is no help with an object where it %s',
      async (lie) => {
        const deceived = await openAt({ ...ABOUT_ALL, ...ABOUT_ANYTHING }[lie] as Lie)
        await expect(readAll(deceived)).rejects.toMatchObject(UNAVAILABLE)
      },
    )

    it('T-31 ends nothing but the reading where it breaks off before anybody reads', async () => {
      const stream = (await (await openAt(ABOUT_ALL['breaks off again and again'] as Lie)).read())!
      await new Promise((resolve) => stream.once('close', resolve))
      await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE)
    })

    it('T-31 gives the range or nothing where it gives all of the object', async () => {
      const deceived = await openAt(says(200, { 'content-length': 1000 }, TRUTH))
      const given = await readAll(deceived, RANGE).catch((error) => error)
      expect([part(10, 19), expect.objectContaining(UNAVAILABLE)]).toContainEqual(given)
    })

    it.each([
      ['nothing', '{}'],
      ['nonsense', '{"size":"-1","generation":{}}'],
      ['no object at all', 'null'],
    ])('T-31 does not know how long an object is where it tells %s of it', async (_, said) => {
      const deceived = await openAt(says(200, inChunks, said))
      const found = await deceived.stat().catch((error) => error)
      // Some have it in the name of the object.
      expect([{ size: TRUTH.length }, expect.objectContaining(UNAVAILABLE)]).toContainEqual(found)
    })
  })
}
