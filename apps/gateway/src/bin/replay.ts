// `svc-gateway replay show | --reason … [--accept] [--new-log …]`: restores what a database that was set back lacks,
// from the journal.

import { parseArgs } from 'node:util'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../context.ts'
import { countMissing } from '../continuity/missing.ts'
import type { LostFiles } from '../views/admin/replay/lost-files.ts'
import { type Accepted, type Examined, examineDatabase, replay } from '../views/admin/replay/replay.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

export const USAGE = 'usage: svc-gateway replay show | replay --reason <why> [--accept] [--new-log <origin>]'
const NEXT =
  'Keep the files of the ended log as they are. Point LOG_STORE to an empty folder or bucket, set LOG_ORIGIN if it was set, and start the gateway: docs/operations.md, "A log begins anew".'
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
      if (verb === 'show') return print(context, await examineDatabase(context))
      const { reason, accept, 'new-log': newLog } = values
      const report = await replay(context, actor, { reason: requireReason(reason), accept, newLog })
      for (const line of countLines(report.replayed)) console.log(`replayed ${line}`)
      for (const problem of report.problems.slice(0, MAX_PRINTED)) console.log(`not replayed: ${problem}`)
      if (report.problems.length > MAX_PRINTED)
        console.log(`not replayed: ${report.problems.length - MAX_PRINTED} more`)
      printLostFiles(report.lostFiles)
      if (report.begun) {
        printJson(report.begun)
        console.error(NEXT)
      }
      print(context, report, report.accepted)
    },
    { whileBehind: true },
  )
}

const MAX_PRINTED = 100

function countLines(counts: Examined['missing']['counts']): string[] {
  return Object.entries(counts).map(([kind, count]) => `${count} × ${NAMES[kind]}`)
}

function printLostFiles({ lockers, others }: LostFiles): void {
  for (const { lockerId, lost, of } of lockers)
    console.log(
      `${lockerId}: ${lost} of ${of} files of its newest statement are not in this database: their owner has to upload them again`,
    )
  if (others > 0) console.log(`${others} more lockers lack files of their newest statements`)
}

const NAMES: Record<string, string> = {
  receipt: 'receipt',
  refund: 'refund',
  unclaimed: 'unclaimed payment',
  locker: 'locker',
  access: 'change of access',
  chunks: 'file list chunk',
  statement: 'statement',
  publication: 'anchor transaction',
  log_anchor: 'log anchor transaction',
  checkpoint: 'checkpoint of the log',
}

function print(
  { primaryChain }: Pick<Context, 'primaryChain'>,
  { missing, isChainRead, log, missingJournals }: Examined,
  accepted: Accepted | null = null,
): void {
  for (const line of countLines(missing.counts)) console.log(`missing: ${line}`)
  for (const { proofId, sequence, digest } of missing.statements)
    console.log(`statement ${proofId} ${sequence} ${digest}`)
  for (const file of missing.unreadable) console.log(`unreadable: ${file}`)
  if (missing.earlier > 0) console.log(EARLIER)
  if (log) console.log(`the published log is ${log.kind}: ${log.missing} entries are missing`)
  for (const { host, seenAt } of missingJournals)
    console.log(`journal of ${host}, last seen ${isoSeconds(seenAt)}: not compared with this database`)
  if (!isChainRead)
    console.error(`The chain was not compared: ${primaryChain ? 'no node answers' : 'this gateway publishes nothing'}.`)
  const count = countMissing(missing) + missingJournals.length + (log ? 1 : 0)
  const lost = accepted ? lostLines(accepted) : []
  for (const line of lost) console.log(`accepted as lost: ${line}`)
  if (count > 0) {
    console.log(`${count} missing.`)
    process.exitCode = BEHIND
  } else if (lost.length > 0) console.log(`Accepted as lost: ${lost.join('; ')}. The database continues without it.`)
  else console.log('The database has all that this gateway has signed.')
}

function lostLines({ counts, proofs, unreadable, earlier, journals }: Accepted): string[] {
  return [
    ...countLines(counts),
    ...(proofs > 0 ? [`the last statements of ${proofs} proofs`] : []),
    ...unreadable.map((file) => `unreadable:  ${file}`),
    ...(earlier > 0 ? [`${earlier} entries of the logbook of release 1.1.0`] : []),
    ...journals.map(({ host }) => `the journal of ${host}`),
  ]
}

const EARLIER =
  'the database lacks what release 1.1.0 has signed: repair it with that release (`svc-gateway continuity`), then start this one'
