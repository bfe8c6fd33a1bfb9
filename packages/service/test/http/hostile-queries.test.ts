import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { expect, it } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import { GET, useTestService } from './service.ts'

const echo = endpoint({
  ...GET,
  name: 'echo',
  path: '/echo',
  query: Type.Object({
    text: Type.Optional(Type.String({ maxLength: 10 })),
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    flag: Type.Optional(Type.Boolean()),
    names: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
  }),
  responses: { 200: Type.Object({ got: Type.Unknown() }) },
})

const service = useTestService((routes) => serve(routes, echo, ({ query }) => ({ got: query })))

/** Sends the query unchanged: `fetch` would encode it. */
async function ask(query: string): Promise<{ status: number; body: { got?: unknown; error?: string } }> {
  const sent = request(`${service.url}/echo`, { path: `/echo?${query}` }).end()
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: (await json(response)) as { got?: unknown; error?: string } }
}

const NUMBERS = [
  ...['', ' ', '+', '-', '+1', '-1', '-0', '1.0', '1.', '.5', '1,0', '1_0', '1e1', '0x10', '0b1', '0o7', '1n', '1%00'],
  ...['NaN', 'Infinity', '-Infinity', 'null', 'undefined', 'true', '[1]', '{}', '1001', '9007199254740993'],
  ...['9'.repeat(400), '١', '１', '१', '𝟏', '¹', '①', '%D9%A1', '%EF%BC%91', '1%20', '%201', '1%0a', '1\u200b'],
]
const UNREADABLE = ['%', '%a', '%zz', '%u0041', '%ff', '%c0%ae', '%ED%A0%80', '%F4%90%80%80', 'a%', 'a%E2%82']
const REPEATED = ['count=1&count=1', 'text=a&text=a', 'text=a&text=b', 'flag=true&flag=true', 'flag=true&flag=false']
const OTHERS = ['text=12345678901', 'text=%00', 'flag=1', 'flag=TRUE', 'flag=', 'names=a&names=b&names=c&names=d']

it('T-05 LIM-01 a value that is not exactly of its type, given twice, or not UTF-8 is rejected', async () => {
  const queries = [
    ...NUMBERS.map((value) => `count=${encodeNonAscii(value)}`),
    ...UNREADABLE.flatMap((value) => [`text=${value}`, `names=a&names=${value}`]),
    ...REPEATED,
    ...OTHERS,
  ]
  for (const query of queries) {
    const name = query.split('=')[0]
    const wrong = { error: 'validation_error', detail: [{ loc: expect.arrayContaining(['query', name]) }] }
    expect(await ask(query), query).toMatchObject({ status: 422, body: wrong })
  }
})

it('T-05 undeclared names are ignored, whatever they mean to JavaScript or to other parsers', async () => {
  const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', '__proto__[count]', '__proto__.count']
  const others = ['count[]', 'count[0]', 'count.a', 'Count', 'count%00', 'count%20', '', '%', '%ff', '&&', ';count']
  for (const name of [...names, ...others]) {
    expect(await ask(`${name}=5&text=a`), name).toEqual({ status: 200, body: { got: { text: 'a' } } })
  }
  expect(Object.keys(Object.prototype)).toEqual([])
})

it('T-05 ATT-07 a valid value arrives unchanged, in its declared type', async () => {
  const texts = ['', 'a b', 'a+b', '%41', '__proto__', '&=?#', '\u202e', '\ufeff', '😀', 'e\u0301']
  for (const text of texts) {
    const query = new URLSearchParams([
      ['text', text],
      ['names', text],
      ['names', text],
    ])
    expect(await ask(`${query}`), JSON.stringify(text)).toEqual({
      status: 200,
      body: { got: { text, names: [text, text] } },
    })
  }
  expect((await ask('count=0&flag=false')).body.got).toEqual({ count: 0, flag: false })
})

function encodeNonAscii(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
