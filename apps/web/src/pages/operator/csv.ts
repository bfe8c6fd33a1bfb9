// Tables for spreadsheets.

import { saveFile } from '../../ui/save-file.ts'

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

export function saveText(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: 'text/csv' }))
}
