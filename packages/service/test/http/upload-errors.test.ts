// The details of upload errors that are answered before routing.

import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { expect, it } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import { bytesEndpoint, GET, OK, POST, readUntil, useTestService } from './service.ts'

const upload = { otherwise: 'POST /in-parts' }
const named = { params: Type.Object({ name: Type.String() }), responses: OK }
const put = endpoint({ ...POST, ...named, name: 'put', method: 'PUT', path: '/up/{name}', upload })
const read = endpoint({ ...GET, ...named, name: 'read', path: '/up/{+name}', upload })
const confirm = endpoint({
  ...POST,
  name: 'confirm',
  path: '/confirm',
  upload: { ...upload, inBody: 'POST /confirm with a body' },
  responses: OK,
})

let isFull = false

const service = useTestService(
  (routes) => {
    for (const each of [put, read, confirm]) serve(routes, each, () => ({ ok: true }))
    serve(routes, bytesEndpoint('/other'), () => ({ size: 0 }))
  },
  { admit: (begin) => begin(isFull ? null : () => {}) },
)

const LONG = 'a'.repeat(17_000)
const ADVICE = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: 'the same' }

/** Errors of any request that occur before its path is read. */
const REFUSED: [status: number, code: string, rest: string][] = [
  [400, 'malformed_request', 'Host: x\r\nHost: y\r\n\r\n'],
  [400, 'malformed_request', 'Host: x\r\nno header\r\n\r\n'],
  [417, 'expectation_failed', 'Host: x\r\nExpect: wonders\r\n\r\n'],
  [431, 'headers_too_large', `Host: x\r\n${'A: 1\r\n'.repeat(300)}\r\n`],
  [431, 'headers_too_large', `Host: x\r\nA: ${LONG}\r\n\r\n`],
  [501, 'unsupported_encoding', 'Host: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
]

/** The answer to a request, which may be the second of its connection. */
async function refusalOf(bytes: string, before?: string) {
  const socket = service.connect(before ?? bytes)
  if (before) {
    await readUntil(socket, '}')
    socket.write(bytes)
  }
  const answer = await readUntil(socket, '"}')
  socket.destroy()
  return {
    status: Number(answer.slice(9, 12)),
    ...JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)),
  }
}

it.each(REFUSED)('FILE-31 ERR-29 %i %s of an upload contains the next step', async (status, error, rest) => {
  const otherwise = error === 'malformed_request' ? { next_best_method: upload.otherwise } : {}
  const details = { ...ADVICE, ...otherwise }
  for (const target of ['/up/a', '/u%70/a?b', 'http://x/up/a'])
    expect(await refusalOf(`PUT ${target} HTTP/1.1\r\n${rest}`), target).toMatchObject({ status, error, details })
  expect(await refusalOf(`GET /up/a/b HTTP/1.1\r\n${rest}`)).toMatchObject({ status, error, details })
})

it.each(REFUSED)('FILE-31 %i %s of any other request does not mention uploads', async (status, error, rest) => {
  const refusals = [
    ...['POST /other', 'POST /up/a', 'GET /nowhere'].map((line) => refusalOf(`${line} HTTP/1.1\r\n${rest}`)),
    refusalOf(`POST /other HTTP/1.1\r\n${rest}`, 'PUT /up/a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'),
  ]
  for (const refusal of await Promise.all(refusals)) {
    expect([refusal.status, refusal.error, refusal.details]).toEqual([status, error, undefined])
  }
})

it('FILE-31 ERR-29 an upload that is rejected because the service is full gets the next step', async () => {
  isFull = true
  const head = 'HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  expect(await refusalOf(`PUT /up/a ${head}`)).toMatchObject({ status: 503, error: 'overloaded', details: ADVICE })
  expect((await refusalOf(`POST /other ${head}`)).details).toBeUndefined()
  isFull = false
})

it('FILE-25 FILE-31 a query that is too long for the head gets the limit and the form that accepts more', async () => {
  const { status, message, details } = await refusalOf(`POST /confirm?names=${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`)
  expect([status, message]).toEqual([431, expect.stringContaining('16384 bytes')])
  expect(details).toMatchObject({ ...ADVICE, next_best_method: 'POST /confirm with a body' })
})
