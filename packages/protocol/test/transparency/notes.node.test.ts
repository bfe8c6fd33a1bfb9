// Signed notes, their keys and their signatures.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { utf8 } from '../../src/bytes.ts'
import {
  formatKey,
  formatNote,
  formatSignature,
  isSignedBy,
  keyId,
  readKey,
  readNote,
  readSignatures,
} from '../../src/transparency/note.ts'
import { testKey } from './keys.ts'
import { textsIn } from './vector-texts.ts'

it('T-129 T-52 no made-up input breaks the rules of signed notes', async () => {
  const { key, sign } = testKey('log.example/a', 'log')
  const body = 'log.example/a\n7\n\nanything é\n'
  const note = formatNote({
    text: body,
    signatures: [{ name: key.name, keyId: keyId(key), signature: await sign(utf8(body)) }],
  })
  expect(
    await problemWith({
      examples: [
        note,
        formatKey(key),
        ...textsIn('notes.json', 'note', 'key'),
        note.slice(note.indexOf('\n\n\u2014') + 2),
      ],
      words: [...'\n\n \n + = \u00a0 \r log.example/a \u0085'.split(' '), '\u2014 ', ' ', '\u2014 log.example/a '],
      maxBytes: 70_000,
      rule(input) {
        const read = readNote(input)
        if (typeof read !== 'string') {
          must(formatNote(read) === text(input), 'a note is written differently than it was read')
          if (isSignedBy(read, key)) must(read.text === body, 'accepts a note that was not signed')
        }
        const found = readKey(text(input))
        if (typeof found !== 'string')
          must(formatKey(found) === text(input), 'a key is written differently than it was read')
        const lines = readSignatures(text(input))
        if (typeof lines !== 'string')
          must(
            lines.map(formatSignature).join('') === text(input),
            'signatures are written differently than they were read',
          )
      },
    }),
  ).toBeNull()
})
