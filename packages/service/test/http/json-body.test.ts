import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, describe, expect, it } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import { POST, readUntil, useTestService } from './service.ts'

const MEBIBYTE = 1_048_576

const post = endpoint({
  ...POST,
  name: 'post',
  path: '/post',
  maxBodyBytes: MEBIBYTE,
  body: Type.Object({ text: Type.String() }),
  responses: { 200: Type.Object({ length: Type.Integer() }) },
})

let reached = 0

const service = useTestService((routes) => {
  serve(routes, post, ({ body }) => {
    reached++
    return { length: body.text.length }
  })
})

beforeEach(() => {
  reached = 0
})

/** A body of exactly this many bytes. */
const sized = (bytes: number) => JSON.stringify({ text: 'a'.repeat(bytes - '{"text":""}'.length) })

describe('the size of a body', () => {
  it('T-11 may be 1 MiB, in one piece and in many', async () => {
    const whole = await fetch(`${service.url}/post`, { method: 'POST', body: Buffer.from(sized(MEBIBYTE)) })
    expect(await whole.json()).toEqual({ length: MEBIBYTE - 11 })
    const upload = httpRequest(`${service.url}/post`, { method: 'POST' })
    for (const piece of sized(5000).match(/.{1,7}/gs) ?? []) upload.write(piece)
    upload.end()
    const [response] = await once(upload, 'response')
    expect(JSON.parse(await text(response))).toEqual({ length: 5000 - 11 })
  })

  it.each([1, 16 * MEBIBYTE])(
    'T-11 is answered with 413 at 1 MiB and %i bytes, even to a client that keeps sending',
    async (more) => {
      for (const headers of [{ 'content-length': String(MEBIBYTE + more) }, {}]) {
        const upload = httpRequest(`${service.url}/post`, { method: 'POST', headers })
        upload.on('error', () => {})
        const body = Buffer.alloc(MEBIBYTE + more, ' ')
        for (let at = 0; at < body.length; at += MEBIBYTE) upload.write(body.subarray(at, at + MEBIBYTE))
        const [response] = await once(upload, 'response')
        expect([response.statusCode, JSON.parse(await text(response)).error]).toEqual([413, 'body_too_large'])
        upload.destroy()
      }
      expect(reached).toBe(0)
    },
  )

  it('T-11 leaves the connection usable for the next request when it is above the limit', async () => {
    const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
    const head = 'POST /post HTTP/1.1\r\nHost: x\r\n'
    const socket = service.connect(`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk('a'.repeat(MEBIBYTE + 1)))
    expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 413 /)
    socket.write(`${chunk('a'.repeat(MEBIBYTE))}0\r\n\r\n${head}Content-Length: 12\r\n\r\n{"text":"a"}`)
    expect(await readUntil(socket, '}')).toContain('{"length":1}')
    socket.destroy()
  })
})

describe('a body that is cut short', () => {
  it.each([
    ['with a declared length', 'Content-Length: 100\r\n\r\n{"text"'],
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n3\r\n{"t\r\n'],
  ])('T-11 is answered with 400 and reaches no operation: %s', async (_, rest) => {
    const socket = service.connect(`POST /post HTTP/1.1\r\nHost: x\r\n${rest}`)
    socket.end()
    expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 400 .*"error":"malformed_request"/s)
    const gone = service.connect(`POST /post HTTP/1.1\r\nHost: x\r\n${rest}`)
    await once(gone, 'connect')
    const lines = () => service.logged().split('\n').length
    const before = lines()
    gone.resetAndDestroy()
    await expect.poll(lines).toBeGreaterThan(before)
    expect(reached).toBe(0)
    expect(service.logged()).not.toMatch(/"status":5|"level":50/)
  })
})
