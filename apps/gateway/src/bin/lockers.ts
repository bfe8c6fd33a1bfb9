// `svc-gateway lockers show <id, receipt, transaction or wallet> | freeze | unfreeze | take-down <id> --reason …`

import { parseArgs } from 'node:util'
import { findLockers, readLocker } from '../views/admin/find-lockers.ts'
import { restrictLocker } from '../views/admin/restrict-locker.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

export const USAGE =
  'usage: svc-gateway lockers show <locker, receipt, transaction or wallet> | freeze|unfreeze|take-down <locker> --reason <why> [--notice <text for its owner>]'

const RESTRICTIONS = { freeze: 'frozen', unfreeze: 'none', 'take-down': 'taken_down' } as const

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: { reason: { type: 'string' }, notice: { type: 'string' } },
      allowPositionals: true,
    })
    const [verb = '', id] = positionals
    if (id === undefined) throw new Error(USAGE)
    if (verb === 'show') {
      return printJson(id.startsWith('locker_') ? await readLocker(context, id) : await findLockers(context, { q: id }))
    }
    if (!Object.hasOwn(RESTRICTIONS, verb)) throw new Error(USAGE)
    const restriction = RESTRICTIONS[verb as keyof typeof RESTRICTIONS]
    const order = { restriction, reason: requireReason(values.reason) }
    const { notice } = values
    printJson(await restrictLocker(context, actor, id, { ...order, ...(notice !== undefined && { notice }) }))
  })
}
