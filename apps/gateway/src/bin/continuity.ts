// `svc-gateway continuity [show] | rebuild --reason … [receipt or bundle…] | accept --reason …`: a database that is behind.

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { PROVIDERS, type Provider } from '@svc/api/purchases'
import { isoSeconds } from '@svc/protocol/evidence'
import { countMissing } from '../continuity/compare.ts'
import type { AwaitedLogbook } from '../continuity/replicas/store.ts'
import { describeRevoked } from '../continuity/revoked.ts'
import { acceptLosses, type Examined, examineDatabase, rebuildDatabase } from '../operations/restored-database.ts'
import { requireReason, withOperations } from './with-operations.ts'

const USAGE =
  'usage: svc-gateway continuity [show] | rebuild --reason <why> [--provider <name>] [receipt or evidence bundle…] | accept --reason <why>'
const BEHIND = 1

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: { reason: { type: 'string' }, provider: { type: 'string' } },
      allowPositionals: true,
    })
    const [verb = 'show', ...files] = positionals
    const { publications } = context
    if (verb === 'show') return print(await examineDatabase(context, publications))
    const reason = requireReason(values.reason)
    if (verb === 'rebuild') {
      const provider = values.provider === undefined ? {} : { provider: requireProvider(values.provider) }
      const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })))
      const order = { files: texts, ...provider, publications, reason }
      const report = await rebuildDatabase(context, actor, order)
      const { rebuilt, restored, refused, closedPayments, repeatedRevocations, left, awaited } = report
      for (const { receipt_id, locker_id } of restored) console.log(`restored receipt ${receipt_id} of ${locker_id}`)
      for (const { proof_id, sequence, anchor } of rebuilt)
        console.log(`rebuilt statement ${sequence} of ${proof_id}${anchor ? `, anchored by ${anchor}` : ''}`)
      for (const { file, why } of refused) console.log(`${file} ${why}`)
      if (closedPayments > 0) console.log(paymentAdvice(closedPayments))
      if (repeatedRevocations > 0) console.log(revocationAdvice(repeatedRevocations))
      printAwaited(awaited)
      return finish(left.length + awaited.length)
    }
    if (verb !== 'accept' || files.length > 0) throw new Error(USAGE)
    const accepted = await acceptLosses(context, actor, { publications, reason })
    const { statements, payments, revocations, givenUp } = accepted
    for (const { proofId, sequence } of statements) console.log(`accepted as lost: statement ${sequence} of ${proofId}`)
    if (payments.length > 0) console.log(paymentAdvice(payments.length))
    if (revocations.length > 0) console.log(revocationAdvice(revocations.length))
    for (const { host } of givenUp) console.log(`accepted as lost: the logbook of ${host}`)
    const { awaited } = await examineDatabase(context, publications)
    printAwaited(awaited)
    finish(awaited.length)
  })
}

function requireProvider(name: string): Provider {
  const provider = PROVIDERS.find((each) => each === name)
  if (provider) return provider
  throw new Error(`--provider is one of ${PROVIDERS.join(', ')}`)
}

function paymentAdvice(count: number): string {
  return `${count} payments are not in this database: each pays nothing but its own quote from now on. Their buyers confirm again and get the same receipt.`
}

function revocationAdvice(count: number): string {
  return `${count} revocations were repeated. Owners whose public links are closed by it open them again.`
}

function printAwaited(awaited: readonly AwaitedLogbook[]): void {
  for (const { host, seenAt } of awaited)
    console.log(`logbook of ${host}, last seen ${isoSeconds(seenAt)}: not compared with this database`)
}

function print({ anchors, awaited, ...missing }: Examined): void {
  const { statements, payments, revocations } = missing
  for (const { proofId, sequence, digest } of statements) console.log(`statement ${proofId} ${sequence} ${digest}`)
  for (const { network, tx, kind } of payments) console.log(`${kind} ${network} ${tx}`)
  for (const { revoked } of revocations) console.log(`revocation ${describeRevoked(revoked)}`)
  printAwaited(awaited)
  if (anchors === null) console.error('The chain was not compared: nothing is published, or no node answers.')
  finish(countMissing(missing) + awaited.length)
}

function finish(missing: number): void {
  console.log(missing === 0 ? 'The database has all that this gateway has signed.' : `${missing} missing.`)
  if (missing > 0) process.exitCode = BEHIND
}
