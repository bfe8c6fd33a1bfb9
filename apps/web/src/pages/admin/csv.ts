// Saves tables for spreadsheets.

import { type Cell, csvLine } from '@svc/api/csv'
import { saveFile } from '../../ui/save-file.ts'

export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveText(`${name}.csv`, rows.map(csvLine).join(''))
}

export function saveText(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: 'text/csv' }))
}
