// CSV for spreadsheets (RFC 4180).

export type Cell = string | number | null | undefined

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Text that a spreadsheet reads as the beginning of a formula, full-width forms included. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u

/** Some spreadsheets separate cells by semicolons or tabs. */
const NEEDS_QUOTES = /[",;\t\r\n]/

/** Text may come from untrusted input, and a spreadsheet must not run it as a formula. */
function csvCell(cell: Cell): string {
  const text = String(cell ?? '')
  const safe = typeof cell === 'string' && FORMULA.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
