import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { expect, it } from 'vitest'
import { JsonStream, JsonText } from '../../src/http/answer.ts'
import { createCompression } from '../../src/http/compression.ts'
import { serve, serveKnown } from '../../src/http/serve.ts'
import { GET, useTestService } from './service.ts'

const Words = { 200: Type.Object({ words: Type.String() }) }
const LONG = 'storage '.repeat(500)
const VERY_LONG = 'Speicher für alle '.repeat(20_000)

const long = endpoint({ ...GET, name: 'long', path: '/long', responses: Words, headers: { vary: 'accept' } })
const veryLong = endpoint({ ...GET, name: 'veryLong', path: '/very-long', responses: Words })
const short = endpoint({ ...GET, name: 'short', path: '/short', responses: Words })
const streamed = endpoint({ ...GET, name: 'streamed', path: '/streamed', responses: Words })
const secret = endpoint({ ...GET, name: 'secret', path: '/secret', auth: 'internal', responses: Words })
const listed = endpoint({ ...secret, name: 'listed', path: '/listed', hasNoSecrets: true })

const service = useTestService((routes) => {
  serve(routes, long, () => ({ words: LONG }))
  serve(routes, veryLong, () => new JsonText(JSON.stringify({ words: VERY_LONG })))
  serve(routes, short, () => ({ words: 'storage' }))
  serve(routes, streamed, () => new JsonStream(pieces()))
  serveKnown(
    routes,
    secret,
    () => 'admin',
    () => ({ words: LONG }),
  )
  serveKnown(
    routes,
    listed,
    () => 'admin',
    () => ({ words: LONG }),
  )
})

async function* pieces() {
  yield '{"words":"'
  for (let i = 0; i < 500; i++) yield 'storage '
  yield '"}'
}

async function get(path: string, accepted: string, method = 'GET') {
  const response = await fetch(service.url + path, { method, headers: { 'accept-encoding': accepted } })
  const [coding, length, vary] = ['content-encoding', 'content-length', 'vary'].map((name) =>
    response.headers.get(name),
  )
  return { coding, length: Number(length), vary, text: await response.text() }
}

it('T-11 compresses long answers by what the client accepts, best first', async () => {
  const plain = await get('/long', 'identity')
  expect(plain).toMatchObject({ coding: null, length: plain.text.length, vary: 'accept, accept-encoding' })
  for (const [accepted, coding] of [
    ['gzip, deflate', 'gzip'],
    ['gzip;q=0.5, br', 'br'],
    ['gzip, br;q=0', 'gzip'],
  ] as const) {
    const packed = await get('/long', accepted)
    expect(packed).toMatchObject({ coding, vary: 'accept, accept-encoding', text: plain.text })
    expect(packed.length).toBeLessThan(200)
  }
  const head = await get('/long', 'gzip', 'HEAD')
  expect(head).toMatchObject({ coding: 'gzip', text: '' })
  expect(head.length).toBeLessThan(200)
})

it('T-11 compresses very long answers and no streams, whose length has no limit', async () => {
  const packed = await get('/very-long', 'br')
  expect(packed).toMatchObject({ coding: 'br', vary: 'accept-encoding', text: JSON.stringify({ words: VERY_LONG }) })
  expect(await get('/streamed', 'gzip')).toMatchObject({ coding: null, text: JSON.stringify({ words: LONG }) })
})

it('does not compress short answers, or answers that may contain secrets', async () => {
  expect(await get('/short', 'gzip, br')).toMatchObject({ coding: null, vary: null })
  expect(await get('/secret', 'gzip, br')).toMatchObject({ coding: null, vary: null })
  expect(await get('/listed', 'gzip, br')).toMatchObject({ coding: 'br' })
})

it('T-11 compresses an answer that all callers share only once', () => {
  const { pack } = createCompression(long)!
  const [first, again, other] = [pack(LONG, 'gzip'), pack(LONG, 'gzip'), pack(`${LONG}!`, 'gzip')]
  expect(again).toBe(first)
  expect(other).not.toBe(first)
})
