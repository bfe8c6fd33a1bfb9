// `svc-gateway replay show | --reason … [--accept] [--new-log …]`: a database that was set back, and the journal that brings
// it back.

import { parseArgs } from 'node:util'
import { isoSeconds } from '@svc/protocol/evidence'
import { countMissing } from '../continuity/missing.ts'
import { type Examined, examineDatabase, replay } from '../operations/replay/replay.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

const USAGE = 'usage: svc-gateway replay show | replay --reason <why> [--accept] [--new-log <origin>]'
const NEXT =
  'Keep the files of the ended log as they are. Point LOG_DIR or LOG_STORE_BUCKET to an empty place, set LOG_ORIGIN if it was set, and start the gateway: docs/operations.md, "A log begins anew".'
const BEHIND = 1

export async function run(args: string[]): Promise<void> {
  await withOperations(
    async (context, actor) => {
      const { values, positionals } = parseArgs({
        args,
        options: {
          reason: { type: 'string' },
          accept: { type: 'boolean', default: false },
          'new-log': { type: 'string' },
        },
        allowPositionals: true,
      })
      const [verb, ...rest] = positionals
      if (rest.length > 0 || (verb !== undefined && verb !== 'show')) throw new Error(USAGE)
      if (verb === 'show') return print(await examineDatabase(context))
      const { reason, accept, 'new-log': newLog } = values
      const report = await replay(context, actor, { reason: requireReason(reason), accept, newLog })
      for (const [kind, count] of Object.entries(report.replayed)) console.log(`replayed ${count} × ${NAMES[kind]}`)
      for (const problem of report.problems) console.log(`not replayed: ${problem}`)
      const { statements, journals } = report.accepted
      if (statements > 0) console.log(`accepted as lost: the last statements of ${statements} proofs`)
      for (const { host } of journals) console.log(`accepted as lost: the journal of ${host}`)
      if (report.begun) {
        printJson(report.begun)
        console.error(NEXT)
      }
      print(report)
    },
    { whileBehind: true },
  )
}

const NAMES: Record<string, string> = {
  receipt: 'receipt',
  refund: 'refund',
  unclaimed: 'unclaimed payment',
  locker: 'locker',
  access: 'change of access',
  chunks: 'part of a list of files',
  statement: 'statement',
  publication: 'transaction of an anchor',
  log_anchor: 'transaction of a log anchor',
  checkpoint: 'checkpoint of the log',
}

function print({ missing, isChainRead, log, awaited }: Examined): void {
  for (const [kind, count] of Object.entries(missing.counts)) console.log(`missing: ${count} × ${NAMES[kind]}`)
  for (const { proofId, sequence, digest } of missing.statements)
    console.log(`statement ${proofId} ${sequence} ${digest}`)
  for (const file of missing.unreadable) console.log(`cannot be read: ${file}`)
  if (missing.earlier > 0) console.log(EARLIER)
  if (log) console.log(`the published log is ${log.kind}: ${log.missing} entries are missing`)
  for (const { host, seenAt } of awaited)
    console.log(`journal of ${host}, last seen ${isoSeconds(seenAt)}: not compared with this database`)
  if (!isChainRead) console.error('The chain was not compared: nothing is published, or no node answers.')
  const count = countMissing(missing) + awaited.length + (log ? 1 : 0)
  console.log(count === 0 ? 'The database has all that this gateway has signed.' : `${count} missing.`)
  if (count > 0) process.exitCode = BEHIND
}

const EARLIER =
  'the database lacks what release 1.1.0 has signed: heal it with that release (`svc-gateway continuity`), then start this one'
