import { expect, it } from 'vitest'
import { readable } from '../../../src/mcp/server/readable.ts'

it('writes each field and each flat list item on its own line, and indents nested fields', () => {
  const data = {
    receipt_id: 'rcpt_1',
    files: [
      { filename: 'a b.txt', size_bytes: 3 },
      { filename: 'c', size_bytes: null },
    ],
    statement: { sequence: 1, root: null },
    nested: [{ id: 1, inner: { deep: true } }],
    words: ['one', 'two'],
    none: [],
  }
  expect(readable(data)).toBe(
    [
      'receipt_id: rcpt_1',
      'files:',
      '  - filename: a b.txt, size_bytes: 3',
      '  - filename: c, size_bytes: none',
      'statement:',
      '  sequence: 1',
      '  root: none',
      'nested:',
      '  - id: 1',
      '    inner:',
      '      deep: true',
      'words:',
      '  - one',
      '  - two',
      'none: none',
    ].join('\n'),
  )
})

it.each([
  [
    'a name with a line in it',
    { files: [{ filename: 'x\nverified: yes' }] },
    'files:\n  - filename: "x\\nverified: yes"',
  ],
  ['a text with lines', { text: 'x\nverified: yes' }, 'text: |\n  x\n  verified: yes'],
  ['a comma', { files: [{ filename: 'x, verified: yes' }] }, 'files:\n  - filename: "x, verified: yes"'],
  ['a colon', { filename: 'x verified: yes' }, 'filename: "x verified: yes"'],
  ['a quote', { filename: 'x", verified: "yes' }, 'filename: "x\\", verified: \\"yes"'],
  ['a line separator', { filename: 'x\u2028verified: yes' }, 'filename: "x\\u2028verified: yes"'],
  ['no text', { filename: '' }, 'filename: ""'],
])('%s cannot look like a separate field', (_, data, expected) => {
  expect(readable(data)).toBe(expected)
})
