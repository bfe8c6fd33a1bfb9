// `npm run bench`: the performance table. Compare the ratios within one run; the absolute figures depend on the machine.
//
//   npm run bench                      all groups
//   npm run bench -- HTTP sessions     some groups
//   npm run bench -- --quick           a rough run in about two minutes: small sizes, without the groups that need large ones
//   npm run bench -- --write           writes the table of a full run into docs/performance.md, and its picture beside it:
//                                      the table of this machine's architecture, so that of arm64 on an arm64 machine
//   npm run bench -- --list            the names of the groups

import { arch } from 'node:os'
import { parseArgs } from 'node:util'
import { canonicalRows } from './canonical.ts'
import { coresRows } from './cores.ts'
import { eventLoopRows } from './event-loop.ts'
import { evidenceRows } from './evidence.ts'
import { fileRows } from './files.ts'
import { growthRows } from './growth.ts'
import { httpRows } from './http.ts'
import { logRows } from './log.ts'
import { merkleRows } from './merkle.ts'
import { peerRows } from './peers/rows.ts'
import { arweaveRows } from './providers/arweave.ts'
import { filecoinRows } from './providers/filecoin.ts'
import { firestoreRows } from './providers/firestore.ts'
import { gcsRows } from './providers/gcs.ts'
import { mongodbRows } from './providers/mongodb.ts'
import { storjRows } from './providers/storj.ts'
import { purchaseRows } from './purchases.ts'
import { type Failure, reportText, writeReport } from './report.ts'
import type { Row } from './row.ts'
import { s3Rows } from './s3.ts'
import { sessionRows } from './sessions.ts'
import { signedRows } from './signed.ts'
import { snapshotRows } from './snapshots.ts'
import { startRows } from './start.ts'
import { transferRows } from './transfers.ts'

const GROUPS: [name: string, run: () => Row[] | Promise<Row[]>][] = [
  ['Merkle', merkleRows],
  ['canonical JSON', canonicalRows],
  ['HTTP', httpRows],
  ['event loop', eventLoopRows],
  ['signed requests', signedRows],
  ['cores', coresRows],
  ['start', startRows],
  ['transfers', transferRows],
  ['sessions', sessionRows],
  ['S3', s3Rows],
  ['files', fileRows],
  ['growth', growthRows],
  ['evidence', evidenceRows],
  ['snapshots', snapshotRows],
  ['log', logRows],
  ['purchases', purchaseRows],
  ['peers', peerRows],
  ['gcs', gcsRows],
  ['mongodb', mongodbRows],
  ['storj', storjRows],
  ['arweave', arweaveRows],
  ['filecoin', filecoinRows],
  ['firestore', firestoreRows],
]

const NAMES = GROUPS.map(([name]) => name)
const DRIVERS = ['gcs', 'mongodb', 'storj', 'arweave', 'filecoin', 'firestore']
/** Groups that mean little at small sizes, and the storage drivers: the quick form omits them unless they are named. */
const NOT_QUICK = ['cores', 'growth', 'snapshots', 'peers', ...DRIVERS]
const DOCS = new URL('../../docs/', import.meta.url)

process.exit(await main())

async function main(): Promise<number> {
  const { values, positionals: wanted } = readArguments()
  const unknown = wanted.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) return refuse(`unknown group: ${unknown.join(', ')}; the groups are ${NAMES.join(', ')}`)
  if (values.write && (values.quick || wanted.length > 0)) return refuse('--write needs a full run of all groups')
  if (values.list) {
    console.log(NAMES.join('\n'))
    return 0
  }
  const all = values.quick ? NAMES.filter((name) => !NOT_QUICK.includes(name)) : NAMES
  if (values.quick && wanted.length === 0) console.error(`The quick form leaves out ${NOT_QUICK.join('; ')}.`)
  const report = await measure(wanted.length > 0 ? wanted : all)
  console.log(`\n${reportText(report)}`)
  if (values.write) await writeReport(DOCS, report)
  else if (!values.quick && wanted.length === 0)
    console.error(`\n--write puts this table into docs/performance.md, where the one of ${arch()} is.`)
  return report.failures.length > 0 ? 1 : 0
}

function readArguments() {
  const options = { list: { type: 'boolean' }, quick: { type: 'boolean' }, write: { type: 'boolean' } } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    process.exit(refuse((error as Error).message)) // parseArgs throws for unknown options
  }
}

function refuse(message: string): number {
  console.error(message)
  return 2
}

/** A failed group does not discard the rows of the others. */
async function measure(wanted: readonly string[]): Promise<{ rows: Row[]; failures: Failure[] }> {
  const rows: Row[] = []
  const failures: Failure[] = []
  const start = performance.now()
  const groups = GROUPS.filter(([name]) => wanted.includes(name))
  for (const [i, [group, run]] of groups.entries()) {
    const groupStart = performance.now()
    console.error(`${i + 1} of ${groups.length}: ${group}…`)
    try {
      rows.push(...(await run()))
      console.error(`${group}: ${elapsed(groupStart)}, ${elapsed(start)} in all`)
    } catch (error) {
      failures.push({ group, error })
      console.error(`${group}: failed after ${elapsed(groupStart)}`, error)
    }
  }
  return { rows, failures }
}

function elapsed(since: number): string {
  const seconds = Math.round((performance.now() - since) / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
