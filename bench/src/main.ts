// `npm run bench`: the performance table. Ratios within one run count; the figures are this machine's.

import { arch, cpus } from 'node:os'
import { canonicalRows } from './canonical.ts'
import { httpRows } from './http.ts'
import { merkleRows } from './merkle.ts'
import { purchaseRows } from './purchases.ts'
import { meetsGoal, type Row } from './row.ts'

const GROUPS: [name: string, run: () => Row[] | Promise<Row[]>][] = [
  ['Merkle', merkleRows],
  ['canonical JSON', canonicalRows],
  ['HTTP', httpRows],
  ['purchases', purchaseRows],
]

const rows: Row[] = []
for (const [name, run] of GROUPS) {
  console.error(`measuring ${name}…`)
  rows.push(...(await run()))
}
console.log(`\nNode ${process.version}, ${cpus().length} × ${arch()}, ${new Date().toISOString().slice(0, 10)}\n`)
console.log('| what | measured | against | ratio | goal | |')
console.log('|---|---|---|---|---|---|')
for (const row of rows) {
  const goal = 'atLeast' in row.goal ? `≥ ${row.goal.atLeast}` : `≤ ${row.goal.atMost}`
  const verdict = meetsGoal(row) ? '✓' : '✗'
  console.log(`| ${row.what} | ${row.measured} | ${row.against} | ${row.ratio.toFixed(2)} | ${goal} | ${verdict} |`)
}
