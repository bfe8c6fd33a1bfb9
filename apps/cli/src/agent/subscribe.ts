import { SUBSCRIPTION_DAYS, type Subscription } from '@svc/api/agent/subscriptions'
import type { Approve } from '@svc/sdk'
import type { Command } from 'commander'
import { assetToPayIn, maxOption } from '../options.ts'
import { counted, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { paidPairs } from '../output/texts.ts'
import { approvePayment, type PriceLimit, requireAsset } from '../purchases/approve-payment.ts'
import { payOnce } from '../purchases/pay-once.ts'
import { payingKey } from '../purchases/paying-key.ts'
import type { Open, Session } from '../session.ts'
import { nodeFor } from '../setup/wallet.ts'

export function add(program: Command, open: Open): void {
  program
    .command('subscribe')
    .description('buy thirty days of the agent service, or thirty more; asks before it pays')
    .addOption(assetToPayIn())
    .addOption(maxOption())
    .addHelpText(
      'after',
      `
The subscription belongs to the wallet that pays: pay with the wallet that owns the lockers to
delegate. After any error, run the same command again: it resumes the purchase. Once that is
finished, the same command buys thirty more days. The key of the service is trusted when it is
first seen, unless you pin it:
  $ svc keys pin KEY --gateway ADDRESS-OF-THE-SERVICE`,
    )
    .action(async (options: PriceLimit, command: Command) => subscribe(await open(command), options))
}

async function subscribe(session: Session, limit: PriceLimit): Promise<void> {
  const { asset } = limit
  requireAsset(limit)
  const { output, host } = session
  const { signal } = host
  const { accepts, extensions } = await (await session.agentClient()).quote(signal)
  const isLocal = extensions.svc.terms.environment === 'development'
  const offers = accepts.map(({ extra, network }) => ({ ticker: extra.name, network }))
  const key = payingKey(await session.keys(), offers, asset)
  const client = await session.agentClient(key)
  const { subscription: before } = await client.delegations(signal)
  const goods = goodsText(extensions.svc.price_summary.total_usd, before)
  let isPaidNow = false
  const buyer = { seller: session.agent(), address: key.address }
  const order = asset === undefined ? 'subscribe' : `subscribe --asset ${asset}`
  const { receipt, subscription } = await payOnce(session, buyer, order, async (intent) => {
    const wallet = await key.wallet(nodeFor(key, session.settings, session.agent()))
    const approve: Approve = async (leg, fee) => {
      isPaidNow = await approvePayment(session, key, { leg, fee, isLocal }, ['agent', goods], limit)
      return isPaidNow
    }
    return client.subscribe({ intent, wallet, approve, signal, ...(asset && { asset }) })
  })
  output.result({ receipt_id: receipt.receipt_id, receipt, subscription }, () =>
    pairs([
      ...paidPairs(receipt, { service: session.agent(), isLocal }),
      ['until', timeText(shown(subscription.expires_at))],
    ]),
  )
  if (!isPaidNow) output.note('\nThis purchase was already paid: no new payment was made.')
  output.note('\nNext: `svc delegate LOCKER`')
}

/** `30 days (5 USD), from 2026-12-01 10:30 UTC on, when the current period ends` */
function goodsText(usd: number, before: Subscription | null): string {
  const days = `${counted(SUBSCRIPTION_DAYS, 'day')} (${usd} USD)`
  if (before?.status !== 'active') return days
  return `${days}, from ${timeText(shown(before.expires_at))} on, when the current period ends`
}
