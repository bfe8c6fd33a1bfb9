import { METHODS } from 'node:http'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { expect, it } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import { bytesEndpoint, GET, POST, readUntil, useTestService } from './service.ts'

const post = endpoint({
  ...POST,
  name: 'post',
  path: '/post/{name}',
  params: Type.Object({ name: Type.String() }),
  body: Type.Object({}),
  responses: { 200: Type.Object({ name: Type.String() }) },
})

const tokenPath = endpoint({
  name: 'tokenPath',
  method: 'GET',
  path: '/f/{token}',
  auth: 'path-token',
  summary: 'fails',
  params: Type.Object({ token: Type.String() }),
  responses: { 200: Type.Object({}) },
  headers: { 'cache-control': 'private, no-store' },
})
const reset = endpoint({ ...GET, name: 'reset', path: '/reset', responses: { 200: Type.Object({}) } })

let seenType: string | undefined

const service = useTestService((routes) => {
  serve(routes, post, ({ params }) => ({ name: params.name }))
  serve(routes, bytesEndpoint('/typed'), ({ wire }) => {
    seenType = wire.headers['content-type']
    return { size: 0 }
  })
  serve(routes, tokenPath, () => {
    throw new Error('ours')
  })
  serve(routes, reset, () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  })
})

async function exchange(request: string): Promise<{ status: number; head: string }> {
  const socket = service.connect(request)
  const head = await readUntil(socket, '\r\n\r\n')
  socket.destroy()
  return { status: Number(head.slice(9, 12)), head }
}

const ODD_TYPES = ['garbage', '/', 'a/', ';', 'é/x', 'a/b;', 'text/plain; charset', 'application/json, a/b', '\t', '"']

it.each(ODD_TYPES)('T-30 the service rejects the Content-Type %j of a JSON body with 415', async (type) => {
  const { status } = await exchange(
    `POST /post/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Type: ${type}\r\n\r\n{}`,
  )
  expect(status).toBe(415)
})

it.each(ODD_TYPES)('T-30 the service leaves the Content-Type %j of bytes to the operation', async (type) => {
  seenType = undefined
  const { status } = await exchange(
    `PUT /typed HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Type: ${type}\r\n\r\n`,
  )
  expect(status).toBe(200)
  expect(Buffer.from(seenType ?? '', 'latin1').toString()).toBe(type.trim())
})

it('T-05 the service answers 405 to methods that a path does not have, and 400 to unknown ones', async () => {
  const odd = METHODS.filter((method) => !['POST', 'OPTIONS', 'CONNECT'].includes(method))
  for (const method of odd) {
    const { status } = await exchange(`${method} /post/a HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect([method, status]).toEqual([method, 405])
  }
  expect((await exchange('BREW /post/a HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(400)
})

it('T-12 the service serves a long path like any other, and does not log it', async () => {
  const name = 'SECRET'.repeat(1000)
  const { status } = await exchange(`POST /post/${name} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`)
  expect(status).toBe(200)
  expect((await exchange(`GET /nothing/${name}%zz HTTP/1.1\r\nHost: x\r\n\r\n`)).status).toBe(422)
  expect(service.logged()).not.toContain('SECRET')
})

it('T-05 the service serves a target in the form for proxies', async () => {
  expect((await exchange('POST http://h/post/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}')).status).toBe(200)
  expect((await exchange('GET http://h/post/a HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(405)
})

it('T-07 errors are not cached and not sent in a Referer', async () => {
  for (const path of ['/nothing', '/post/%zz', '/post/a', '/reset']) {
    const { status, head } = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(head).toContain('cache-control: no-store\r\n')
    expect(head).toContain('referrer-policy: no-referrer\r\n')
  }
})

it('T-07 errors of a path with a token have the headers of its answers', async () => {
  const { status, head } = await exchange('GET /f/token HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(status).toBe(500)
  expect(head).toContain('cache-control: private, no-store\r\n')
})

it('a broken connection to another service is a 500, not a 400', async () => {
  expect((await exchange('GET /reset HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(500)
})
