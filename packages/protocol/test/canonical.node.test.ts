import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, depthOf, json, must, mustEqual } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { CanonicalJsonError, canonicalJson, canonicalJsonV1, type Json } from '../src/canonical.ts'
import { parseStrictJson } from '../src/strict-json.ts'

const MAX_BYTES = 32_768

it('EVID-05 T-129 no made-up input breaks the rules of canonical JSON', async () => {
  expect(
    await problemWith({
      examples: [
        '{"b":1,"a":[{"y":"é","x":"\\u0000"},{"x":2,"y":null}],"\\ud83d\\ude00":true,"\\uffff":false}',
        '[{"a":1,"b":2},{"a":1,"b":2},{"b":1,"a":2}]',
        JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${(i * 7) % 20}`, i]))),
      ],
      words: ['\ud83d\ude00', '\uffff', '\u2028', '"', '\\', '\u007f', '10', '2', '__proto__', 'a\0'],
      isJson: true,
      maxBytes: MAX_BYTES,
      rule(input) {
        const value = json(input) as Json | undefined
        if (value === undefined || depthOf(value) > 1000) return
        const written = accepted(CanonicalJsonError, () => canonicalJson(value))
        must(
          (written === null) === (modelOf(value) === null),
          'refuses a canonical form, or accepts a value without one',
        )
        if (written === null) return
        must(written === modelOf(value), 'writes a text that differs from RFC 8785')
        if (depthOf(value) > 32) return
        const again = parseStrictJson(written, Number.POSITIVE_INFINITY)
        must(canonicalJson(again) === written, 'writes a different text for its own output')
        mustEqual(JSON.parse(canonicalJsonV1(again)), JSON.parse(canonicalJsonV1(value)), 'has two texts in version 1')
      },
    }),
  ).toBeNull()
})

/** A direct implementation of RFC 8785, without fractions. Null if there is no such text. */
function modelOf(value: Json): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? JSON.stringify(value) : null
  if (typeof value === 'string') return value.isWellFormed() ? JSON.stringify(value) : null
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return joined(value.map(modelOf), '[', ']')
  const members = Object.entries(value as Record<string, Json>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => {
      const [name, content] = [modelOf(key), modelOf(member)]
      return name === null || content === null ? null : `${name}:${content}`
    })
  return joined(members, '{', '}')
}

function joined(parts: readonly (string | null)[], opening: string, closing: string): string | null {
  return parts.includes(null) ? null : `${opening}${parts.join(',')}${closing}`
}
