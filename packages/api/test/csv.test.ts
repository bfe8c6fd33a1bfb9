import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvLine } from '../src/csv.ts'

/** Reads a line by the rules of RFC 4180. */
function cellsOf(line: string): string[] {
  const cell = /(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n$)/y
  const cells: string[] = []
  while (cell.lastIndex < line.length) {
    const [, quoted, plain = ''] = cell.exec(line) ?? []
    if (cell.lastIndex === 0) throw new Error(`not a line: ${JSON.stringify(line)}`)
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
  }
  return cells
}

const FORMULAS = [
  ...['=cmd()', "=cmd|' /C calc'!A0", '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1'],
  ...['\u200b=1', '＝1', '＠a'],
]
const isFormula = (cell: string) => /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u.test(cell)

it('T-30 text never becomes a formula or a separate cell, and remains readable', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }).map((part) => part.toWellFormed()),
    fc.constantFrom(...FORMULAS, 'a,b', 'a;=1', 'a\t=1', '"', '",=1,"', 'a\r\n=1', '', '""'),
  )
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (cells) => {
      const read = cellsOf(csvLine(cells))
      expect(read.filter(isFormula)).toEqual([])
      expect(read.map((cell, i) => (cells[i] === cell ? cell : cell.replace(/^'/, '')))).toEqual(cells)
    }),
  )
  expect(FORMULAS.map((formula) => cellsOf(csvLine([formula]))[0])).toEqual(FORMULAS.map((formula) => `'${formula}`))
  // Some spreadsheets separate cells by semicolons or tabs.
  expect(csvLine(['a;=1', 'b\t=1'])).toBe('"a;=1","b\t=1"\r\n')
})

it('ADD-25 numbers are written unchanged, and missing values as empty cells', () => {
  expect(csvLine([-1, 2.5, null, undefined, 'a "b"', 'c,d', '-1'])).toBe(`-1,2.5,,,"a ""b""","c,d",'-1\r\n`)
})
