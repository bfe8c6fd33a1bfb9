// Tables for spreadsheets.

type Cell = string | number

export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

/** Names come from others: a spreadsheet must not take one for a formula. */
function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveText(`${name}.csv`, csvText(rows))
}

/** Some browsers read it after the click. */
const KEEP_MS = 60_000

export function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS)
}
