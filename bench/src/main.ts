// `npm run bench`: the performance table. Compare the ratios within one run; the absolute figures depend on the machine.

import { arch, cpus } from 'node:os'
import { canonicalRows } from './canonical.ts'
import { coresRows } from './cores.ts'
import { evidenceRows } from './evidence.ts'
import { growthRows } from './growth.ts'
import { httpRows } from './http.ts'
import { merkleRows } from './merkle.ts'
import { arweaveRows } from './providers/arweave.ts'
import { filecoinRows } from './providers/filecoin.ts'
import { firestoreRows } from './providers/firestore.ts'
import { gcsRows } from './providers/gcs.ts'
import { mongodbRows } from './providers/mongodb.ts'
import { storjRows } from './providers/storj.ts'
import { purchaseRows } from './purchases.ts'
import { meetsGoal, type Row } from './row.ts'
import { sessionRows } from './sessions.ts'
import { signedRows } from './signed.ts'
import { snapshotRows } from './snapshots.ts'
import { startRows } from './start.ts'
import { transferRows } from './transfers.ts'

const GROUPS: [name: string, run: () => Row[] | Promise<Row[]>][] = [
  ['Merkle', merkleRows],
  ['canonical JSON', canonicalRows],
  ['HTTP', httpRows],
  ['signed requests', signedRows],
  ['cores', coresRows],
  ['start', startRows],
  ['transfers', transferRows],
  ['sessions', sessionRows],
  ['growth', growthRows],
  ['evidence', evidenceRows],
  ['snapshots', snapshotRows],
  ['purchases', purchaseRows],
  ['gcs', gcsRows],
  ['mongodb', mongodbRows],
  ['storj', storjRows],
  ['arweave', arweaveRows],
  ['filecoin', filecoinRows],
  ['firestore', firestoreRows],
]

/** `npm run bench -- HTTP` measures one group only. */
const wanted = process.argv.slice(2)
const rows: Row[] = []
for (const [name, run] of GROUPS.filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
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
