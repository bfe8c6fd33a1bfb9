// `svc-gateway payments list [--state all] | show <network> <tx> | refund <network> <tx> --asset … --amount … --reason …`

import { parseArgs } from 'node:util'
import type { UnclaimedPayment } from '@svc/api/operations'
import { lookUpPayment, refundPayment } from '../views/admin/payments.ts'
import { listUnclaimed } from '../views/admin/unclaimed-payments.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

const USAGE =
  'usage: svc-gateway payments list [--state due|all] | show <network> <tx> | refund <network> <tx> --asset <ticker> --amount <atomic units> --reason <why> [--refund-tx <transaction that paid it back>]'

const AMOUNT = /^[1-9]\d*$/

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: {
        state: { type: 'string', default: 'due' },
        asset: { type: 'string' },
        amount: { type: 'string' },
        'refund-tx': { type: 'string' },
        reason: { type: 'string' },
      },
      allowPositionals: true,
    })
    const [verb = 'list', network, tx] = positionals
    const { state, asset, amount = '', 'refund-tx': refund_tx } = values
    if (verb === 'list' && (state === 'due' || state === 'all')) {
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const page = await listUnclaimed(context, { state, ...(cursor !== undefined && { cursor }) })
        printPayments(page.payments)
        cursor = page.next_cursor
      }
      return
    }
    if (network === undefined || tx === undefined) throw new Error(USAGE)
    if (verb === 'show') return printJson(await lookUpPayment(context, { network, tx }))
    if (verb !== 'refund' || asset === undefined || !AMOUNT.test(amount)) throw new Error(USAGE)
    const order = { network, tx, asset, amount_raw: amount, reason: requireReason(values.reason) }
    printJson(await refundPayment(context, actor, { ...order, ...(refund_tx !== undefined && { refund_tx }) }))
  })
}

function printPayments(payments: readonly UnclaimedPayment[]): void {
  for (const { noted_at, network, tx, asset, payer, left_raw, pay_req_id, reason, state } of payments)
    console.log([noted_at, network, tx, `${left_raw} ${asset}`, payer, pay_req_id, reason, state].join('  '))
}
