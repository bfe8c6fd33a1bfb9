import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, depthOf, json, must, mustEqual, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { parseStrictJson, StrictJsonError } from '../src/strict-json.ts'

const MAX_BYTES = 65_536
const MAX_DEPTH = 32

it('ENV-23 T-129 no made-up input breaks the rules of strict JSON', async () => {
  expect(
    await problemWith({
      examples: [
        '{"a":1,"b":[true,false,null],"c":{"d":"e"}}',
        '[0,-0,1.5,-2e10,1E+2,9007199254740993]',
        ' { "\\u0061" : "\\ud83d\\ude00\\n" , "b" : [ ] } ',
        '"text"',
        '{"__proto__":{"a":1},"constructor":0}',
      ],
      words: '{ } [ ] , : " \\ \\u0000 \\" true null 1e308 "a": "__proto__": -'.split(' '),
      isJson: true,
      maxBytes: MAX_BYTES,
      rule(input) {
        const read = accepted(StrictJsonError, () => ({ value: parseStrictJson(input, MAX_BYTES) }))
        const native = json(input)
        if (!read) {
          const isPlain =
            native !== undefined && Buffer.from(JSON.stringify(native)).equals(input) && depthOf(native) <= MAX_DEPTH
          must(!isPlain, 'refuses what JSON.stringify writes')
          return
        }
        // V8's JSON.parse (13.6) can confuse a key that contains a quote with an earlier key in the same position.
        if (!text(input).includes('\\"')) mustEqual(read.value, native, 'reads a value that differs from JSON.parse')
        must(depthOf(read.value) <= MAX_DEPTH, `accepts a value that is nested deeper than ${MAX_DEPTH}`)
        mustEqual(parseStrictJson(text(input), MAX_BYTES), read.value, 'reads text and its bytes differently')
        const few = accepted(StrictJsonError, () => ({ value: parseStrictJson(input, MAX_BYTES, 8) }))
        if (few) mustEqual(few.value, read.value, 'reads a different value with a limit')
      },
    }),
  ).toBeNull()
})
