// Part of the suite of all drivers: sources that fail, end early, or do not have their declared size.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import { fetchBytes, keep, newId, streamOf } from './objects.ts'

const MIB = 1024 * 1024

export function describeSources(opened: () => StorageProvider): void {
  /** Expects that a write fails, and that the id is still free. */
  async function expectNothingLeft(source: Readable, size: number | null, sourceError: unknown) {
    const provider = opened()
    const id = newId()
    await expect(provider.write(id, source, { contentType: 'text/plain', size })).rejects.toThrow(sourceError as Error)
    expect(await provider.stat({ id, ref: null })).toBeNull()
    expect(await provider.read({ id, ref: null })).toBeNull()
    const whole = Buffer.from('the second try')
    expect(await fetchBytes(provider, await keep(provider, whole, id))).toEqual(whole)
  }

  describe('leaves nothing when it writes', () => {
    it('a source that fails, and rethrows its error unchanged', async () => {
      const sourceError = Object.assign(new Error('no more'), { code: 'ENOSPC', syscall: 'read' })
      async function* failing(length: number) {
        yield randomBytes(length)
        throw sourceError
      }
      for (const length of [1, 5 * MIB]) {
        const source = Readable.from(failing(length), { objectMode: false })
        const failure = opened().write(newId(), source, { contentType: 'text/plain', size: null })
        expect(await failure.catch((error) => error)).toBe(sourceError)
        await expectNothingLeft(Readable.from(failing(length), { objectMode: false }), 10 * MIB, sourceError)
      }
    })

    it('a source that failed before it was read', async () => {
      const sourceError = new Error('no more')
      const failed = streamOf(randomBytes(MIB)).on('error', () => {})
      failed.destroy(sourceError)
      await expectNothingLeft(failed, null, sourceError)

      const failsAtOnce = streamOf(randomBytes(MIB))
      const id = newId()
      const failure = opened().write(id, failsAtOnce, { contentType: 'text/plain', size: MIB })
      failsAtOnce.destroy(sourceError)
      expect(await failure.catch((error) => error)).toBe(sourceError)
      expect(await opened().stat({ id, ref: null })).toBeNull()
    })

    it('a source that is destroyed, before or while it is read', async () => {
      const destroyed = streamOf(randomBytes(MIB))
      destroyed.destroy()
      await expectNothingLeft(destroyed, MIB, /premature/i)

      const halfWay = new Readable({ read() {} })
      halfWay.push(randomBytes(2 * MIB))
      halfWay.once('resume', () => halfWay.once('data', () => halfWay.destroy()))
      await expectNothingLeft(halfWay, null, /premature/i)
    })

    it('a request whose client disconnects', async () => {
      const id = newId()
      const outcome = Promise.withResolvers<unknown>()
      const server = createServer((incoming) => {
        const about = { contentType: 'text/plain', size: Number(incoming.headers['content-length']) }
        opened().write(id, incoming, about).then(outcome.resolve, outcome.resolve)
        incoming.once('data', () => client.destroy())
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo // a listening TCP server has one
      const client = request({ port, method: 'PUT', headers: { 'content-length': 10 * MIB } })
      client.on('error', () => {})
      client.write(randomBytes(2 * MIB))
      expect(await outcome.promise).toMatchObject({ code: 'ECONNRESET' })
      expect(await opened().stat({ id, ref: null })).toBeNull()
    })

    it.each([
      ['fewer', 2 * MIB + 1],
      ['far fewer', 100 * MIB],
      ['more', 2 * MIB - 1],
      ['far more', 0],
    ])('a source that has %s bytes than declared', async (_, declared) => {
      await expectNothingLeft(streamOf(randomBytes(2 * MIB)), declared, RangeError)
    })
  })
}
