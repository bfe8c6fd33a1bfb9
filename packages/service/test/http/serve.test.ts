import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { Answer } from '../../src/http/answer.ts'
import { serve, serveKnown } from '../../src/http/serve.ts'
import { ServiceError } from '../../src/service-error.ts'
import { GET, useTestService } from './service.ts'

const Thing = Type.Object({ units: Type.Integer({ minimum: 1 }), tags: Type.Optional(Type.Array(Type.String())) })
const Echo = Type.Object({ units: Type.Integer(), caller: Type.String(), filename: Type.String() })

const createThing = endpoint({
  name: 'createThing',
  method: 'POST',
  path: '/v1/things/{filename}',
  auth: { ops: ['locker:write'] },
  summary: 'a route with all kinds of input',
  params: Type.Object({ filename: Type.String() }),
  body: Thing,
  responses: { 200: Echo },
  headers: { 'cache-control': 'no-store' },
})
const readThing = endpoint({
  ...GET,
  name: 'readThing',
  path: '/v1/things/{filename}',
  params: createThing.params,
  responses: { 200: Echo },
})
const faulty = endpoint({ ...GET, name: 'faulty', path: '/faulty', responses: { 200: Echo } })
const crash = endpoint({ ...GET, name: 'crash', path: '/crash', responses: { 200: Echo } })
const badHeader = endpoint({ ...GET, name: 'badHeader', path: '/bad-header', responses: { 200: Echo } })
const refuse = endpoint({ ...GET, name: 'refuse', path: '/refuse', responses: { 200: Echo } })

let authenticated: { body: string; wasParsedBefore: boolean }[] = []
let parsedBodies = 0

const service = useTestService((routes) => {
  serveKnown(
    routes,
    createThing,
    (wire) => {
      authenticated.push({ body: Buffer.from(wire.body).toString(), wasParsedBefore: parsedBodies > 0 })
      if (wire.headers['x-svc-signature'] !== 'good') throw new ServiceError('SIGNATURE_INVALID', 'no')
      return 'owner'
    },
    ({ body, caller, params }) => {
      parsedBodies++
      return { units: body.units, caller, filename: params.filename }
    },
  )
  serve(routes, readThing, ({ wire }) => ({ units: 1, caller: wire.method, filename: wire.target }))
  serve(routes, faulty, () => ({ units: 'three' }) as never)
  serve(routes, crash, () => {
    throw new Error('secret database password')
  })
  serve(routes, badHeader, () => new Answer(200, { units: 1, caller: '', filename: '' }, { 'x-name': 'a\nb' }))
  serve(routes, refuse, () => {
    throw new ServiceError('RATE_LIMITED', 'too fast', {
      hint: 'wait',
      details: { layer: 'gateway' },
      headers: { 'retry-after': '7' },
    })
  })
})

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/v1/things/a') {
  return fetch(service.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-svc-envelope': 'e30', 'x-svc-signature': 'good', ...headers },
  })
}

describe('a valid request', () => {
  it('GEN-02 GEN-07 reaches the operation and answers 200 JSON', async () => {
    const response = await post('{"units":3,"unknown":true}\n')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ units: 3, caller: 'owner', filename: 'a' })
  })

  it('ENV-23 is authenticated over its exact bytes before they are parsed', async () => {
    authenticated = []
    parsedBodies = 0
    const odd = ' {"units" :3 }\r\n'
    expect((await post(odd)).status).toBe(200)
    expect(authenticated).toEqual([{ body: odd, wasParsedBefore: false }])
  })

  it('ENV-23 is rejected for its signature before its body is parsed', async () => {
    const response = await post('{{{', { 'x-svc-signature': 'bad' })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: 'SIGNATURE_INVALID' })
  })

  it('GEN-02 may have any application/*json* type, or none', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/vnd.svc+json', 'APPLICATION/JSON']) {
      expect((await post('{"units":1}', { 'content-type': type })).status).toBe(200)
    }
    const untyped = httpRequest(`${service.url}/v1/things/a`, {
      method: 'POST',
      headers: { 'x-svc-envelope': 'e30', 'x-svc-signature': 'good' },
    })
    untyped.end('{"units":1}')
    const [response] = await once(untyped, 'response')
    expect(response.statusCode).toBe(200)
  })

  it('RCPT-02 HEAD is answered like GET, without a body', async () => {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${service.url}/v1/things/x`, { method })),
    )
    expect(head!.status).toBe(200)
    expect(head!.headers.get('content-type')).toBe(get!.headers.get('content-type'))
    expect(await head!.text()).toBe('')
  })

  it('keeps its raw target, and its path values are decoded once', async () => {
    const response = await fetch(`${service.url}/v1/things/a%2520b?x=%41`)
    expect(await response.json()).toMatchObject({ filename: '/v1/things/a%2520b?x=%41' })
    expect(await (await post('{"units":1}', {}, '/v1/things/a%252Fb')).json()).toMatchObject({ filename: 'a%2Fb' })
  })
})

describe('invalid input', () => {
  it.each([
    ['PAY-02 a missing field', '{}', ['body', 'units'], 'is required'],
    ['PAY-02 a misspelt field', '{"unit":3}', ['body', 'units'], 'is required (unknown and ignored: "unit")'],
    ['PAY-02 text for a number', '{"units":"3"}', ['body', 'units'], 'must be an integer >= 1'],
    ['not an object', '[]', ['body'], 'must be object'],
    ['not JSON', '{', ['body'], expect.stringContaining('not valid JSON')],
    ['a duplicate key', '{"units":1,"units":2}', ['body'], expect.stringContaining('occurs twice')],
    ['deep nesting', '['.repeat(40), ['body'], expect.stringContaining('nested deeper')],
    ['an empty body', '', ['body', 'units'], 'is required'],
  ])('GEN-08 %s is 422 with its location', async (_, body, loc, msg) => {
    const response = await post(body)
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({
      error: 'validation_error',
      message: expect.stringContaining('body'),
      hint: expect.stringContaining('/openapi.json'),
      detail: [{ loc, msg, type: 'value_error' }],
      request_id: expect.stringMatching(/^req_/),
    })
  })

  it('T-06 is a 422 when it contains NUL or a lone surrogate anywhere', async () => {
    const place = async (response: Response) =>
      ((await response.json()) as { detail: { loc: unknown[] }[] }).detail[0]?.loc
    expect(await place(await post('{"units":1,"tags":["a","\\u0000"]}'))).toEqual(['body', 'tags', 1])
    expect(await place(await post('{"units":1,"tags":["\\ud800"]}'))).toEqual(['body', 'tags', 0])
    expect(await place(await fetch(`${service.url}/v1/things/a%00b`))).toEqual(['path', 'filename'])
  })

  it('is a 415 when its body has another type or is compressed', async () => {
    const typed = await post('{"units":1}', { 'content-type': 'text/plain' })
    expect([typed.status, ((await typed.json()) as { error: string }).error]).toEqual([415, 'unsupported_media_type'])
    const packed = await post('{"units":1}', { 'content-encoding': 'gzip' })
    expect([packed.status, ((await packed.json()) as { error: string }).error]).toEqual([415, 'unsupported_encoding'])
  })
})

describe('an unknown route', () => {
  it('ENV-20 VERS-04 is 404 for an unknown path', async () => {
    for (const path of [
      '/',
      '/v1/challenge',
      '/v1/login',
      '/v1/whoami',
      '/V1/THINGS/a',
      '/v1/things/',
      '/v1//things/a',
    ]) {
      const response = await fetch(service.url + path)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: 'not_found', hint: expect.any(String) })
    }
  })

  it('is 405 for another method, with the allowed ones', async () => {
    const response = await fetch(`${service.url}/v1/things/a`, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(await response.json()).toMatchObject({ error: 'method_not_allowed' })
  })
})

describe('errors', () => {
  it('are a 500 when they are our own, and reveal only the request id, which the log has too', async () => {
    const response = await fetch(`${service.url}/crash`)
    const body = (await response.json()) as { request_id: string }
    expect(response.status).toBe(500)
    expect(body).toEqual({
      error: 'internal_error',
      message: expect.any(String),
      hint: expect.stringContaining('request_id'),
      request_id: response.headers.get('x-request-id'),
    })
    expect(service.logged()).toContain(body.request_id)
    expect(service.logged()).toContain('secret database password')
  })

  it('are a 500 when a response does not match its declaration', async () => {
    expect((await fetch(`${service.url}/faulty`)).status).toBe(500)
    expect(service.logged()).toContain('faulty returns a response that its declaration does not allow')
  })

  it('are a 500 when a header cannot be sent over HTTP', async () => {
    expect((await fetch(`${service.url}/bad-header`)).status).toBe(500)
  })

  it('carry hint, details and headers when they are expected', async () => {
    const response = await fetch(`${service.url}/refuse`)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toMatchObject({
      error: 'RATE_LIMITED',
      message: 'too fast',
      hint: 'wait',
      details: { layer: 'gateway' },
    })
  })
})

describe('every answer', () => {
  it('FILE-30 allows every origin, on errors too', async () => {
    for (const path of ['/v1/things/a', '/nope', '/crash']) {
      const response = await fetch(service.url + path, { headers: { origin: 'https://page.example' } })
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('includes preflights on every path', async () => {
    const response = await fetch(`${service.url}/v1/anything`, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ')
    const needed = ['X402-TX', 'X-Svc-Envelope', 'X-Svc-Signature', 'Idempotency-Key', 'Range']
    expect(allowed).toEqual(expect.arrayContaining([...needed, 'Access-Control-Expose-Headers']))
  })
})

it('T-12 the log has one line per request and no secret, token or receipt id', async () => {
  const start = service.logged().length
  await fetch(`${service.url}/f/TOKENSECRET?receipt_id=rcpt_secret`)
  const began = performance.now()
  const headers = {
    'x-svc-signature': 'SIGSECRET',
    'x-svc-envelope': 'ENVSECRET',
    authorization: 'Bearer BEARERSECRET',
    'x-oracle-secret': 'ORACLESECRET',
    'x-upload-token': 'UPLOADSECRET',
  }
  await fetch(`${service.url}/v1/things/TOKENSECRET?receipt_id=rcpt_secret`, { headers })
  service.log.info({ headers })
  service.log.info({ req: { headers } })
  const logged = service.logged().slice(start)
  expect(logged).not.toMatch(/SECRET|rcpt_secret/)
  const lines = logged
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter((line) => line.status)).toHaveLength(2)
  expect(lines[1]).toMatchObject({ method: 'GET', route: '/v1/things/:filename', status: 200 })
  expect(lines[1].ms).toBeGreaterThan(0)
  expect(lines[1].ms).toBeLessThan(performance.now() - began)
})
