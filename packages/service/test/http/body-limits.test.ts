import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, expect, it } from 'vitest'
import { serve, serveKnown } from '../../src/http/serve.ts'
import { ServiceError, ValidationError } from '../../src/service-error.ts'
import { useTestService } from './service.ts'

const open = {
  method: 'POST',
  auth: 'public',
  summary: 'takes JSON',
  body: Type.Object({
    units: Type.Integer({ minimum: 1 }),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
    file: Type.Optional(Type.Object({ name: Type.String() })),
  }),
  responses: { 200: Type.Object({ units: Type.Integer() }) },
} as const
const order = endpoint({ ...open, name: 'order', path: '/order' })
const known = endpoint({ ...open, name: 'known', path: '/known', auth: 'internal' })

let counted = 0
let isExhausted = false

const service = useTestService(
  (routes) => {
    serve(routes, order, ({ body }) => ({ units: body.units }))
    serveKnown(
      routes,
      known,
      () => 'somebody',
      ({ body }) => ({ units: body.units }),
    )
  },
  {
    badBodyLimit: {
      refuseExhausted() {
        if (isExhausted) throw new ServiceError('RATE_LIMITED', 'later')
      },
      async count() {
        counted++
      },
    },
  },
)

beforeEach(() => {
  counted = 0
  isExhausted = false
})

const JSON_TYPE = { 'content-type': 'application/json' }

interface Refusal {
  error: string
  message: string
  detail: { loc: (string | number)[]; msg: string }[]
}

async function post(body: string, path = '/order'): Promise<{ status: number; body: Refusal }> {
  const response = await fetch(service.url + path, { method: 'POST', body, headers: JSON_TYPE })
  return { status: response.status, body: (await response.json()) as Refusal }
}

it('T-35 a body whose declared length is too large is rejected before it is sent', async () => {
  expect(await service.answerTo('POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: 8193\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 413 .*"error":"body_too_large".*"max_bytes":8192/s,
  )
  expect((await post(`{"units":1,"more":"${'x'.repeat(8_000)}"}`)).status).toBe(200)
  expect((await post(`{"units":1,"more":"${'x'.repeat(8_192)}"}`)).status).toBe(413)
})

it('T-35 a body with many more values than the endpoint can use is not read to its end', async () => {
  const { status, body } = await post(`{"units":1,"more":[${'1,'.repeat(4_000)}x`)
  expect([status, body.error]).toEqual([422, 'validation_error'])
  expect(body.message).toMatch(/more than \d+ values/)
})

it('T-35 GEN-08 every wrong field is named once, for any number of wrong values', async () => {
  const { body } = await post(`{"units":0,"tags":[${'1,'.repeat(40)}1],"file":{}}`)
  expect(body.detail.map(({ loc }) => loc)).toEqual([
    ['body', 'units'],
    ['body', 'tags'],
    ['body', 'file', 'name'],
  ])
  expect((await post(`{"units":1,"tags":["a",2,3]}`)).body.detail).toMatchObject([{ loc: ['body', 'tags', 1] }])
  expect((await post(`{"tags":[]}`)).body.detail).toMatchObject([{ loc: ['body', 'units'], msg: 'is required' }])
})

it('T-35 long texts of the client are not repeated, and long lists of problems are cut', async () => {
  const twice = `"${'k'.repeat(3_000)}"`
  expect(JSON.stringify((await post(`{${twice}:1,${twice}:1}`)).body).length).toBeLessThan(2_000)
  expect(JSON.stringify((await post(`{"${'k'.repeat(6_000)}":"\\u0000"}`)).body).length).toBeLessThan(2_000)
  const problem = { loc: ['body'], msg: 'is wrong' }
  const many = new ValidationError(problem, ...Array<typeof problem>(999).fill(problem))
  expect(many.body('req_1').detail).toHaveLength(20)
  expect(many.message).toMatch(/; and 980 more$/)
})

it('T-35 an unauthenticated caller over the limit is rejected before the body is parsed', async () => {
  isExhausted = true
  expect((await post('not JSON')).status).toBe(429)
  expect(counted).toBe(0)
})

it('T-35 unusable bodies count, except those of known callers', async () => {
  expect((await post('not JSON')).status).toBe(422)
  expect((await post('{"units":0}')).status).toBe(422)
  expect(counted).toBe(2)
  expect((await post('{"units":1}')).status).toBe(200)
  isExhausted = true
  expect((await post('{"units":1}', '/known')).status).toBe(200)
  expect((await post('{"units":0}', '/known')).status).toBe(422)
  expect(counted).toBe(2)
})
