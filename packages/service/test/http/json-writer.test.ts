import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { jsonWriter } from '../../src/http/json-writer.ts'

const OrNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Entry = Type.Object({
  name: OrNull(Type.String()),
  size: OrNull(Type.Integer()),
  owner: OrNull(Type.Object({ id: Type.String(), mail: OrNull(Type.String()) })),
  tags: OrNull(Type.Array(OrNull(Type.String()))),
  kind: OrNull(Type.Enum(['a', 'b'])),
  either: Type.Union([Type.Integer(), Type.Object({ of: OrNull(Type.String()) })]),
  note: Type.Optional(OrNull(Type.String())),
})

describe('a JSON answer', () => {
  const write = jsonWriter({ 200: Type.Object({ entries: Type.Array(Entry) }), 202: Entry })
  const nothing = { name: null, size: null, owner: null, tags: null, kind: null, either: { of: null } }
  const all = {
    name: 'quote " and \u{1f600}',
    size: 0,
    owner: { id: 'x', mail: null },
    tags: ['a', null],
    kind: 'b',
    either: 7,
    note: null,
  }

  it('GEN-02 contains nulls and values unchanged', () => {
    const body = { entries: [nothing, all] }
    expect(JSON.parse(write(200, body))).toEqual(body)
    expect(JSON.parse(write(202, all))).toEqual(all)
  })

  it('contains declared fields only, even when a value may be null', () => {
    const extra = { ...all, secret: 1, owner: { id: 'x', mail: 'm', secret: 2 } }
    expect(JSON.parse(write(202, extra))).toEqual({ ...all, owner: { id: 'x', mail: 'm' } })
  })

  it('is written completely when its status is not declared', () => {
    expect(write(500, { a: [1] })).toBe('{"a":[1]}')
  })
})
