import { stripVTControlCharacters } from 'node:util'

export interface Column {
  title: string
  /** Right-aligned, for numbers. */
  isRight?: boolean
}

/** Aligned columns with two spaces between them and no trailing spaces. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows]
  const widths = columns.map((_, i) => longest(lines.map((line) => line[i] ?? '')))
  return lines
    .map((line) =>
      columns
        .map(({ isRight = false }, i) => padded(line[i] ?? '', widths[i] as number, isRight))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One line per entry: the name, then the value. */
export function pairs(entries: readonly (readonly [name: string, value: string])[]): string {
  const columns = longest(entries.map(([name]) => name))
  return entries.map(([name, value]) => `${padded(name, columns, false)}  ${value}`).join('\n')
}

/** Not `Math.max(...)`: long lists exceed the limit on arguments. */
function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, width(text)), 0)
}

function padded(text: string, columns: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)))
  return isRight ? space + text : text + space
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NOTHING = /^\p{M}+$/u

/** The number of columns that the text takes on a terminal. */
export function width(text: string): number {
  let columns = 0
  for (const char of stripVTControlCharacters(text)) columns += NOTHING.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return columns
}
