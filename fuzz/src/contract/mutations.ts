// Requests with one thing wrong: missing, added, of another type, at a limit, too long, strange.

import * as fc from 'fast-check'
import { type Draft, encode, queryPairs, textOf } from './draft.ts'
import type { Operation, Schema } from './operation.ts'
import { bordersOf, propertiesOf, READABLE } from './values.ts'

interface Change {
  what: string
  draft: Draft
}

const NAMES = [
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '..',
  '.',
  'a:b',
  'a\\b',
  'CON',
  'a\u0000b',
  '\ud800',
  '\u202efdp.exe',
]
const TEXTS = [
  "' or 1=1 --",
  '%',
  '%00',
  '%2e%2e%2f',
  '<script>',
  'a\r\nb: c',
  ' ',
  '\ufeff',
  'null',
  'true',
  '0',
  '-1',
]
const NUMBERS = [0, -0, -1, 1.5, 1e308, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63)]
const LONG = ['a'.repeat(513), 'ä'.repeat(2000), '/'.repeat(300), 'a/'.repeat(700)]
const DEEP = JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown

/** Includes lone surrogates. */
const ANY_TEXT = fc
  .array(fc.noBias(fc.nat(0x10ffff)), { maxLength: 40 })
  .map((points) => String.fromCodePoint(...points))

/** Values that no reader of the interface would send. */
export const STRANGE: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NAMES, ...TEXTS, ...NUMBERS, ...LONG, DEEP, null, true, [], {}, ''),
  ANY_TEXT,
  READABLE,
  fc.jsonValue({ maxDepth: 3 }),
)

/** Every way to make one thing of a request wrong; `strange` is inserted at each position. */
export function changesOf(operation: Operation, draft: Draft, strange: unknown): Change[] {
  return [
    ...pathChanges(operation, draft, strange),
    ...queryChanges(operation, draft, strange),
    ...headerChanges(operation, draft, strange),
    ...bodyChanges(operation, draft, strange),
  ]
}

function pathChanges({ parameters }: Operation, draft: Draft, strange: unknown): Change[] {
  return parameters
    .filter((parameter) => parameter.in === 'path')
    .flatMap(({ name, schema }) => {
      const texts = [strange, ...bordersOf(schema)].map((value) => encode(textOf(value)))
      const own = draft.path[name] ?? ''
      return [...texts, '%zz', '%ff', '%2F', `${own}%2F..`, `${own}/`, own.toUpperCase(), `${own}%20`].map((text) => ({
        what: `path ${name}: ${JSON.stringify(text.slice(0, 80))}`,
        draft: { ...draft, path: { ...draft.path, [name]: text } },
      }))
    })
}

function queryChanges({ parameters }: Operation, draft: Draft, strange: unknown): Change[] {
  const changed = (what: string, query: Draft['query']) => ({ what: `query ${what}`, draft: { ...draft, query } })
  const declared = parameters.filter((parameter) => parameter.in === 'query')
  const ofEach = declared.flatMap(({ name, schema }) => {
    const others = draft.query.filter(([other]) => other !== name)
    const own = draft.query.filter(([other]) => other === name)
    const values = [strange, ...bordersOf(schema)].map((value) =>
      changed(`${name}: ${brief(value)}`, [...others, ...queryPairs(name, value)]),
    )
    return [
      ...values,
      changed(`without ${name}`, others),
      changed(`${name} twice`, [...others, ...own, [name, encode(textOf(strange))]]),
      changed(`${name} badly encoded`, [...others, [name, '%zz%ff']]),
      changed(`${name}[]`, [...others, ...own.map(([, value]): [string, string] => [`${name}[]`, value])]),
    ]
  })
  return [...ofEach, changed('with an unknown name', [...draft.query, [encode('__proto__'), encode(textOf(strange))]])]
}

function headerChanges({ parameters }: Operation, draft: Draft, strange: unknown): Change[] {
  const changed = (what: string, headers: Draft['headers']) => ({
    what: `header ${what}`,
    draft: { ...draft, headers },
  })
  return parameters
    .filter((parameter) => parameter.in === 'header')
    .flatMap(({ name, schema }) => {
      const { [name]: own = '', ...others } = draft.headers
      const values = [strange, ...bordersOf(schema), `${own},${own}`, `${own}x`, `Bearer ${own}`]
      return [
        changed(`without ${name}`, others),
        ...values.map((value) => changed(`${name}: ${brief(value)}`, { ...others, [name]: headerText(textOf(value)) })),
      ]
    })
}

/** The form in which a client can send it. */
export function headerText(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').trim()
}

function bodyChanges({ body: schema, takesBytes }: Operation, draft: Draft, strange: unknown): Change[] {
  const json = draft.body && 'json' in draft.body ? draft.body.json : null
  const own = Buffer.from(draft.body && 'bytes' in draft.body ? draft.body.bytes : (JSON.stringify(json) ?? '{}'))
  const usual = schema ? JSON_TYPE : {}
  const bytes = (what: string, text: string | Uint8Array, headers: Record<string, string> = usual) => ({
    what: `body ${what}`,
    draft: { ...draft, headers: { ...draft.headers, ...headers }, body: { bytes: Buffer.from(text) } },
  })
  const whole = [
    bytes('strange', JSON.stringify(strange) ?? 'null'),
    bytes('cut off', own.subarray(0, -1)),
    bytes('cut in half', own.subarray(own.length / 2)),
    bytes('twice', Buffer.concat([own, own])),
    bytes('with extra bytes before it', Buffer.concat([Buffer.from(textOf(strange).slice(0, 3)), own])),
    bytes('of 9,000 spaces', ' '.repeat(9000)),
    bytes('not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    bytes('in another form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
    bytes('with an invalid type', '{}', { 'content-type': 'json' }),
    bytes('packed', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    { what: 'no body', draft: { ...draft, body: null } },
  ]
  if (schema === null) return takesBytes ? whole : [bytes('that is not expected', '{"a":1}')]
  return [
    ...whole,
    ...fieldChanges(schema, json, strange).map(({ what, value }) => ({
      what: `body ${what}`,
      draft: { ...draft, body: { json: value } },
    })),
  ]
}

const JSON_TYPE = { 'content-type': 'application/json' }

interface ChangedValue {
  what: string
  value: unknown
}

/** The same value with one change, at any depth. */
function fieldChanges(schema: Schema, value: unknown, strange: unknown): ChangedValue[] {
  if (Array.isArray(value)) {
    const [first, ...rest] = value
    return fieldChanges(schema.items as Schema, first, strange).map(({ what, value: item }) => ({
      what: `[0]${what}`,
      value: [item, ...rest],
    }))
  }
  if (typeof value !== 'object' || value === null) return []
  const fields: Record<string, unknown> = { ...value }
  const added = { what: ' with an unknown field', value: { ...fields, ['__proto__']: strange, unknown_field: strange } }
  return [
    added,
    ...Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
      const { [name]: own, ...others } = fields
      const values = [strange, null, ...bordersOf(field), [own], { own }, textOf(own)]
      return [
        { what: ` without ${name}`, value: others },
        ...values.map((other) => ({ what: ` ${name}: ${brief(other)}`, value: { ...fields, [name]: other } })),
        ...fieldChanges(field, own, strange).map(({ what, value: inside }) => ({
          what: ` ${name}${what}`,
          value: { ...fields, [name]: inside },
        })),
      ]
    }),
  ]
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 80)
}
