import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Answer } from '../src/answer.ts'
import { createLog } from '../src/log.ts'
import { serve, serveKnown } from '../src/serve.ts'
import { createService, type Service } from '../src/service.ts'
import { ServiceError } from '../src/service-error.ts'

const Thing = Type.Object({ units: Type.Integer({ minimum: 1 }), tags: Type.Optional(Type.Array(Type.String())) })
const Echo = Type.Object({ units: Type.Integer(), caller: Type.String(), filename: Type.String() })

const createThing = endpoint({
  name: 'createThing',
  method: 'POST',
  path: '/v1/things/{filename}',
  auth: { ops: ['locker:write'] },
  summary: 'a route with everything',
  params: Type.Object({ filename: Type.String() }),
  query: Type.Object({
    ttl_min: Type.Optional(Type.Integer({ minimum: 1, maximum: 1440 })),
    sync: Type.Optional(Type.Boolean()),
    names: Type.Optional(Type.Array(Type.String())),
  }),
  body: Thing,
  responses: { 200: Echo },
  headers: { 'cache-control': 'no-store' },
})
const open = { method: 'GET', auth: 'public', summary: 'a public route' } as const
const readThing = endpoint({
  ...open,
  name: 'readThing',
  path: '/v1/things/{filename}',
  params: createThing.params,
  responses: { 200: Echo },
})
const faulty = endpoint({ ...open, name: 'faulty', path: '/faulty', responses: { 200: Echo } })
const crash = endpoint({ ...open, name: 'crash', path: '/crash', responses: { 200: Echo } })
const badHeader = endpoint({ ...open, name: 'badHeader', path: '/bad-header', responses: { 200: Echo } })
const refuse = endpoint({ ...open, name: 'refuse', path: '/refuse', responses: { 200: Echo } })
const slow = endpoint({ ...open, name: 'slow', path: '/slow', responses: { 200: Echo } })
const queryEcho = endpoint({
  ...open,
  name: 'queryEcho',
  path: '/query',
  query: createThing.query,
  responses: { 200: Type.Object({ got: Type.Unknown() }) },
})

let service: Service
let url: string
let logged = ''
let authenticated: { body: string; wasParsedBefore: boolean }[] = []
let parsedBodies = 0
let finishSlow: () => void

beforeAll(async () => {
  const write = (line: string) => {
    logged += line
  }
  const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
  service = createService({ log, checkResponses: true })
  serveKnown(
    service,
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
  serve(service, readThing, ({ wire }) => ({ units: 1, caller: wire.method, filename: wire.target }))
  serve(service, faulty, () => ({ units: 'three' }) as never)
  serve(service, crash, () => {
    throw new Error('secret database password')
  })
  serve(service, badHeader, () => new Answer(200, { units: 1, caller: '', filename: '' }, { 'x-name': 'a\nb' }))
  serve(service, refuse, () => {
    throw new ServiceError('RATE_LIMITED', 'too fast', {
      hint: 'wait',
      details: { layer: 'gateway' },
      headers: { 'retry-after': '7' },
    })
  })
  serve(service, slow, async () => {
    await new Promise<void>((resolve) => {
      finishSlow = resolve
    })
    return new Answer(200, { units: 1, caller: 'slow', filename: '' }, { 'x-extra': 'yes' })
  })
  serve(service, queryEcho, ({ query }) => ({ got: query }))
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})

afterAll(() => service.app.close())

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/v1/things/a') {
  return fetch(url + path, {
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

  it('GEN-02 is answered in JSON also when it is refused', async () => {
    const answers: [Promise<Response>, number][] = [
      [post('{'), 422],
      [post('{}', { 'x-svc-signature': 'bad' }), 403],
      [fetch(`${url}/nowhere`), 404],
      [fetch(`${url}/v1/things/a`, { method: 'PATCH' }), 405],
      [fetch(`${url}/refuse`), 429],
      [fetch(`${url}/crash`), 500],
    ]
    for (const [answer, status] of answers) {
      const response = await answer
      expect([response.status, response.headers.get('content-type')]).toEqual([
        status,
        expect.stringMatching(/^application\/json/),
      ])
      expect(await response.json()).toMatchObject({ error: expect.any(String), message: expect.any(String) })
    }
  })

  it('ENV-23 is authenticated over its exact bytes, before they are parsed', async () => {
    authenticated = []
    parsedBodies = 0
    const odd = ' {"units" :3 }\r\n'
    expect((await post(odd)).status).toBe(200)
    expect(authenticated).toEqual([{ body: odd, wasParsedBefore: false }])
  })

  it('ENV-23 is refused for its signature before its body is parsed', async () => {
    const response = await post('{{{', { 'x-svc-signature': 'bad' })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: 'SIGNATURE_INVALID' })
  })

  it('GEN-02 may have any application/*json* type, or none', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/vnd.svc+json', 'APPLICATION/JSON']) {
      expect((await post('{"units":1}', { 'content-type': type })).status).toBe(200)
    }
    const untyped = httpRequest(`${url}/v1/things/a`, {
      method: 'POST',
      headers: { 'x-svc-envelope': 'e30', 'x-svc-signature': 'good' },
    })
    untyped.end('{"units":1}')
    const [response] = await once(untyped, 'response')
    expect(response.statusCode).toBe(200)
  })

  it('RCPT-02 HEAD is answered as GET is, without a body', async () => {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => fetch(`${url}/v1/things/x`, { method })))
    expect(head!.status).toBe(200)
    expect(head!.headers.get('content-type')).toBe(get!.headers.get('content-type'))
    expect(await head!.text()).toBe('')
  })

  it('keeps its raw target, and its path values are decoded once', async () => {
    const response = await fetch(`${url}/v1/things/a%2520b?x=%41`)
    expect(await response.json()).toMatchObject({ filename: '/v1/things/a%2520b?x=%41' })
    expect(await (await post('{"units":1}', {}, '/v1/things/a%252Fb')).json()).toMatchObject({ filename: 'a%2Fb' })
  })
})

describe('invalid input', () => {
  it.each([
    ['PAY-02 a missing field', '{}', ['body', 'units'], 'is required'],
    ['PAY-02 a misspelt field', '{"unit":3}', ['body', 'units'], 'is required (unknown and ignored: "unit")'],
    ['PAY-02 text for a number', '{"units":"3"}', ['body', 'units'], 'must be an integer >= 1'],
    ['PAY-02 a fraction', '{"units":1.5}', ['body', 'units'], 'must be an integer >= 1'],
    ['PAY-02 too small', '{"units":0}', ['body', 'units'], 'must be an integer >= 1'],
    ['a wrong array item', '{"units":1,"tags":["a",5]}', ['body', 'tags', 1], 'must be string'],
    ['not an object', '[]', ['body'], 'must be object'],
    ['not JSON', '{', ['body'], expect.stringContaining('not valid JSON')],
    ['a duplicate key', '{"units":1,"units":2}', ['body'], expect.stringContaining('stands twice')],
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

  it('T-06 with NUL or a lone surrogate is 422, wherever it is', async () => {
    const place = async (response: Response) =>
      ((await response.json()) as { detail: { loc: unknown[] }[] }).detail[0]?.loc
    expect(await place(await post('{"units":1,"tags":["a","\\u0000"]}'))).toEqual(['body', 'tags', 1])
    expect(await place(await post('{"units":1,"tags":["\\ud800"]}'))).toEqual(['body', 'tags', 0])
    expect(await place(await fetch(`${url}/v1/things/a%00b`))).toEqual(['path', 'filename'])
    expect(await place(await fetch(`${url}/query?names=a&names=%00`))).toEqual(['query', 'names', 1])
  })

  it('GEN-08 is reported with every wrong value at once', async () => {
    const response = await post('{"units":"x","tags":"y"}')
    const { detail } = (await response.json()) as { detail: { loc: unknown[] }[] }
    expect(detail.map(({ loc }) => loc[1])).toEqual(['units', 'tags'])
  })

  it.each(['0', '1441', '1.5', 'x', '0x10', '1e2', ' 5', '', '99999999999999999999'])(
    'LIM-01 the query ttl_min=%j is 422',
    async (value) => {
      const response = await fetch(`${url}/query?ttl_min=${encodeURIComponent(value)}`)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({
        detail: [{ loc: ['query', 'ttl_min'], msg: 'must be an integer from 1 to 1440' }],
      })
    },
  )

  it('ATT-07 query values are converted to their declared types', async () => {
    const got = async (query: string) => (await fetch(`${url}/query?${query}`)).json()
    expect(await got('ttl_min=30&sync=true&names=a&names=b&other=1')).toEqual({
      got: { ttl_min: 30, sync: true, names: ['a', 'b'] },
    })
    expect(await got('names=a')).toEqual({ got: { names: ['a'] } })
    expect(await got('sync=yes')).toMatchObject({ error: 'validation_error' })
    expect(await got('ttl_min=1&ttl_min=2')).toMatchObject({ error: 'validation_error' })
  })

  it('of more than 1 MiB is 413, with and without a declared length', async () => {
    const big = Buffer.alloc(1_048_577, ' ')
    const announced = await post(Uint8Array.from(big))
    expect(announced.status).toBe(413)
    expect(await announced.json()).toMatchObject({ error: 'body_too_large' })
    const chunked = httpRequest(`${url}/v1/things/a`, {
      method: 'POST',
      headers: { 'x-svc-envelope': 'e30', 'x-svc-signature': 'good' },
    })
    chunked.on('error', () => {})
    chunked.write(big)
    chunked.end()
    const [response] = await once(chunked, 'response')
    expect(response.statusCode).toBe(413)
  })

  it('of another type, or compressed, is 415', async () => {
    const typed = await post('{"units":1}', { 'content-type': 'text/plain' })
    expect([typed.status, ((await typed.json()) as { error: string }).error]).toEqual([415, 'unsupported_media_type'])
    const packed = await post('{"units":1}', { 'content-encoding': 'gzip' })
    expect([packed.status, ((await packed.json()) as { error: string }).error]).toEqual([415, 'unsupported_encoding'])
  })

  it('bad percent-encoding in the path is 422', async () => {
    expect((await fetch(`${url}/v1/things/%zz`)).status).toBe(422)
  })

  it('that is not HTTP is a JSON 400, and headers that are too long are 431', async () => {
    expect(await rawExchange('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"error":"malformed_request"/s)
    expect(await rawExchange(`GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 .*"error":"headers_too_large"/s,
    )
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
      const response = await fetch(url + path)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: 'not_found', hint: expect.any(String) })
    }
  })

  it('is 405 for another method, with the allowed ones', async () => {
    const response = await fetch(`${url}/v1/things/a`, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST, GET, HEAD')
    expect(await response.json()).toMatchObject({ error: 'method_not_allowed' })
  })
})

describe('errors', () => {
  it('of our own are 500 and reveal only the request id, which the log has too', async () => {
    const response = await fetch(`${url}/crash`)
    const body = (await response.json()) as { request_id: string }
    expect(response.status).toBe(500)
    expect(body).toEqual({
      error: 'internal_error',
      message: expect.any(String),
      hint: expect.stringContaining('request_id'),
      request_id: response.headers.get('x-request-id'),
    })
    expect(logged).toContain(body.request_id)
    expect(logged).toContain('secret database password')
  })

  it('include responses that do not match their declaration', async () => {
    expect((await fetch(`${url}/faulty`)).status).toBe(500)
    expect(logged).toContain('faulty answers against its declaration')
  })

  it('include headers that HTTP cannot carry', async () => {
    expect((await fetch(`${url}/bad-header`)).status).toBe(500)
  })

  it('that are expected carry hint, details and headers', async () => {
    const response = await fetch(`${url}/refuse`)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toMatchObject({
      error: 'RATE_LIMITED',
      message: 'too fast',
      hint: 'wait',
      details: { layer: 'gateway' },
    })
  })

  it('for a body that is cut short are 400, and no operation runs', async () => {
    parsedBodies = 0
    const half = 'POST /v1/things/a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nX-Svc-Signature: good\r\n\r\n{"units"'
    expect(await rawExchange(half)).toMatch(/^HTTP\/1\.1 400 /)
    expect(parsedBodies).toBe(0)
    expect(logged).not.toMatch(/"status":5\d\d,[^\n]*things/)
  })
})

describe('every answer', () => {
  it('FILE-30 allows every origin, on errors too', async () => {
    for (const path of ['/v1/things/a', '/nope', '/crash']) {
      const response = await fetch(url + path, { headers: { origin: 'https://page.example' } })
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('includes preflights on every path', async () => {
    const response = await fetch(`${url}/v1/anything`, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    const allowed = response.headers.get('access-control-allow-headers')
    for (const header of [
      'X402-TX',
      'X-Svc-Envelope',
      'X-Svc-Signature',
      'Idempotency-Key',
      'Range',
      'Access-Control-Expose-Headers',
    ]) {
      expect(allowed).toContain(header)
    }
  })
})

describe('the log', () => {
  it('T-12 has one line per request and no secret, token or receipt id', async () => {
    logged = ''
    const secrets = [
      'TOKENSECRET',
      'SIGSECRET',
      'ENVSECRET',
      'BEARERSECRET',
      'ORACLESECRET',
      'UPLOADSECRET',
      'rcpt_secret',
    ]
    await fetch(`${url}/f/TOKENSECRET?receipt_id=rcpt_secret`)
    const began = performance.now()
    await fetch(`${url}/v1/things/TOKENSECRET?receipt_id=rcpt_secret`, {
      headers: {
        'x-svc-signature': 'SIGSECRET',
        'x-svc-envelope': 'ENVSECRET',
        authorization: 'Bearer BEARERSECRET',
        'x-oracle-secret': 'ORACLESECRET',
        'x-upload-token': 'UPLOADSECRET',
      },
    })
    service.log.info({ headers: { 'x-svc-signature': 'SIGSECRET', authorization: 'BEARERSECRET' } })
    service.log.info({ req: { headers: { 'x-upload-token': 'UPLOADSECRET' } } })
    for (const secret of secrets) expect(logged).not.toContain(secret)
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter((line) => line.status)).toHaveLength(2)
    expect(lines[1]).toMatchObject({
      method: 'GET',
      route: '/v1/things/:filename',
      status: 200,
      ms: expect.any(Number),
    })
    expect(lines[1].ms).toBeGreaterThan(0)
    expect(lines[1].ms).toBeLessThan(performance.now() - began)
  })
})

// Last: it closes the service.
describe('stopping', () => {
  it('finishes requests in flight and accepts no new ones', async () => {
    const inFlight = fetch(`${url}/slow`)
    await expect.poll(() => finishSlow).toBeTypeOf('function')
    const closed = service.app.close()
    finishSlow()
    const response = await inFlight
    expect(response.status).toBe(200)
    expect(response.headers.get('x-extra')).toBe('yes')
    expect(await response.json()).toMatchObject({ caller: 'slow' })
    await closed
    await expect(fetch(`${url}/v1/things/a`)).rejects.toThrow()
  })
})

async function rawExchange(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(bytes)
  return text(socket)
}
