// Forms that many bodies share.

import Type, { type TSchema } from 'typebox'

export const Hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${bytes * 2}}$` })
export const Timestamp = (description?: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$',
    ...(description && { description }),
  })
/** One of a few words. */
export const Words = <const W extends string[]>(words: readonly [...W]) => Type.Enum<W>(words)
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
