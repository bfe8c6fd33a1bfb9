// Servers that give wrong or endless answers to drivers that use HTTP. A driver must not accept such an answer as the
// object, must not wait forever, and must report the provider as unavailable.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ByteRange } from '../src/provider.ts'

/** A driver that reads one object from the bad server. */
export interface BadlyServed {
  read(range?: ByteRange): Promise<Readable | null>
  stat(): Promise<{ size: number } | null>
}

/** Short, as some of these servers never answer. */
export const SHORT_TIMEOUTS = { connectMs: 5000, answerMs: 300, idleMs: 300, attempts: 2, backoffMs: 1 }

export const BYTES = randomBytes(1000)
const RANGE = { start: 10, end: 19 }
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

type BadAnswer = (request: IncomingMessage, response: ServerResponse) => void

const part = (start: number, end: number) => BYTES.subarray(start, end + 1)
export const answerWith = (
  status: number,
  headers: Record<string, string | number>,
  body: Uint8Array | string,
): BadAnswer => {
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
export async function startBadServer(answer: BadAnswer): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has one
}

export function describeBadAnswers(name: string, open: (url: string) => Promise<BadlyServed>): void {
  const openAt = async (answer: BadAnswer) => open(await startBadServer(answer))
  const readAll = async (driver: BadlyServed, range?: ByteRange) => buffer((await driver.read(range))!)

  describe(`${name} with a server that answers wrongly`, () => {
    it.each(Object.keys({ ...TO_A_RANGE, ...TO_ANYTHING }))(
      'T-31 fails to read a range when the server %s',
      async (name) => {
        const driver = await openAt({ ...TO_A_RANGE, ...TO_ANYTHING }[name] as BadAnswer)
        await expect(readAll(driver, RANGE)).rejects.toMatchObject(UNAVAILABLE)
      },
    )

    it.each(Object.keys({ ...TO_A_WHOLE_READ, ...TO_ANYTHING }))(
      'T-31 fails to read an object when the server %s',
      async (name) => {
        const driver = await openAt({ ...TO_A_WHOLE_READ, ...TO_ANYTHING }[name] as BadAnswer)
        await expect(readAll(driver)).rejects.toMatchObject(UNAVAILABLE)
      },
    )

    it('T-31 keeps an early error for the reader', async () => {
      const stream = (await (await openAt(TO_A_WHOLE_READ['keeps breaking the connection'] as BadAnswer)).read())!
      await new Promise((resolve) => stream.once('close', resolve))
      await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE)
    })

    it('T-31 returns the range or fails when the server sends the whole object', async () => {
      const driver = await openAt(answerWith(200, { 'content-length': 1000 }, BYTES))
      const given = await readAll(driver, RANGE).catch((error) => error)
      expect([part(10, 19), expect.objectContaining(UNAVAILABLE)]).toContainEqual(given)
    })

    it.each([
      ['nothing', '{}'],
      ['an invalid size', '{"size":"-1","generation":{}}'],
      ['no object at all', 'null'],
    ])('T-31 does not invent a size when the server states %s', async (_, said) => {
      const driver = await openAt(answerWith(200, inChunks, said))
      const found = await driver.stat().catch((error) => error)
      // Some drivers know the size by the name of the object.
      expect([{ size: BYTES.length }, expect.objectContaining(UNAVAILABLE)]).toContainEqual(found)
    })
  })
}
