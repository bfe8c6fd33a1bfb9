// Signed notes, their keys and their signatures.

import { utf8 } from '@svc/protocol/bytes'
import { testKey } from '@svc/protocol/test/transparency/keys'
import {
  formatKey,
  formatNote,
  formatSignature,
  isSignedBy,
  keyId,
  readKey,
  readNote,
  readSignatures,
} from '@svc/protocol/transparency/note'
import { must, type Parser, text } from '../engine/parser.ts'
import { textsIn } from './vectors.ts'

export async function open(): Promise<Parser> {
  const { key, sign } = testKey('log.example/a', 'log')
  const body = 'log.example/a\n7\n\nanything é\n'
  const note = formatNote({
    text: body,
    signatures: [{ name: key.name, keyId: keyId(key), signature: await sign(utf8(body)) }],
  })
  return {
    seeds: [note, formatKey(key), ...textsIn('notes.json', 'note', 'key'), note.slice(note.indexOf('\n\n\u2014') + 2)],
    words: ['\u2014 ', '\n\n', '\n', '+', ' ', '=', '\u00a0', '\r', '\u2014 log.example/a ', 'log.example/a', '\u0085'],
    maxBytes: 70_000,
    check(input) {
      const read = readNote(input)
      if (typeof read !== 'string') {
        must(formatNote(read) === text(input), 'a note is another one when it is written')
        if (isSignedBy(read, key)) must(read.text === body, 'believes a note that was not signed')
      }
      const found = readKey(text(input))
      if (typeof found !== 'string') must(formatKey(found) === text(input), 'a key is another one when it is written')
      const lines = readSignatures(text(input))
      if (typeof lines !== 'string')
        must(lines.map(formatSignature).join('') === text(input), 'signatures are others when they are written')
    },
  }
}
