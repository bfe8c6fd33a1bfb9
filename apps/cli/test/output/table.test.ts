import { describe, expect, it } from 'vitest'
import { pairs, table, width } from '../../src/output/table.ts'

describe('tables', () => {
  it('align columns, right-align numbers and have no trailing spaces', () => {
    const columns = [{ title: 'SIZE', isRight: true }, { title: 'NAME' }, { title: 'X' }]
    const rows = [
      ['1 B', 'a', ''],
      ['1000 B', 'long name', 'y'],
    ]
    expect(table(columns, rows)).toBe('  SIZE  NAME       X\n   1 B  a\n1000 B  long name  y')
  })

  it('hold 300,000 rows', { tags: ['nightly'] }, () => {
    const rows = Array.from({ length: 300_000 }, (_, i) => [`file ${i}`])
    expect(table([{ title: 'NAME' }], rows)).toBe(['NAME', ...rows.flat()].join('\n'))
  })

  it('measure text as a terminal shows it: wide characters take two columns, accents and colours none', () => {
    expect(['ab', '日本', 'e\u0301', '\u001b[31mred\u001b[39m', '🔑'].map(width)).toEqual([2, 4, 1, 3, 2])
    expect(
      pairs([
        ['日', '1'],
        ['abc', '2'],
      ]),
    ).toBe('日   1\nabc  2')
  })
})
