import type { PaymentLeg } from '@svc/api/quote'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import type { Session } from '../session.ts'
import type { Key } from '../wallet/key.ts'
import { askedAmount } from './asked-amount.ts'
import { type PriceLimit, requireWithin } from './max-amount.ts'

/** Shows what would be paid for what, and asks; throws where it is more than the buyer wants to pay at all. */
export async function approvePayment(
  { output, agrees }: Session,
  key: Key,
  leg: PaymentLeg,
  [goods, what]: readonly [goods: string, what: string],
  limit: PriceLimit,
): Promise<boolean> {
  requireWithin(leg, limit)
  const amount = shown(askedAmount(leg))
  output.note(
    pairs([
      [goods, shown(what)],
      ['pay', amount],
      ['to', shown(leg.payTo)],
      ['on', shown(leg.network)],
      ['from', `${key.address} (${key.from}), and the network's fee`],
    ]),
  )
  if (!(await agrees(`Pay ${amount}?`))) return false
  output.note('Paying, and waiting for the chain…')
  return true
}
