// Saves tables for spreadsheets.

import { type Cell, csvLine } from '@svc/api/csv'

export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveText(`${name}.csv`, rows.map(csvLine).join(''))
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
