import type { Quote } from '@svc/api/purchases'
import type { Approve } from '@svc/sdk'
import { GatewayError } from '@svc/sdk/errors'
import type { Command } from 'commander'
import { assetToPayIn, lockerArgument, maxOption, unitsOption } from '../options.ts'
import { bytesText, counted, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { paidPairs } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { nodeFor } from '../setup/wallet.ts'
import { approvePayment, type PriceLimit, requireAsset } from './approve-payment.ts'
import { payOnce } from './pay-once.ts'
import { payingKey } from './paying-key.ts'
import { lockerName } from './usage-text.ts'

interface RenewOptions extends PriceLimit {
  units?: number
}

export function add(program: Command, open: Open): void {
  program
    .command('renew')
    .description('pay for more time or space in an existing locker; asks before it pays')
    .addArgument(lockerArgument())
    .addOption(unitsOption('how many units; by default the number that keeps its size for another full term'))
    .addOption(assetToPayIn())
    .addOption(maxOption())
    .addHelpText(
      'after',
      `
The purchased terms are added to what is left: the same size extends the paid time, and a larger
size takes effect immediately. The receipt, links and statements of the locker stay.
After any error, run the same command again: it resumes the purchase and never pays twice.`,
    )
    .action(async (locker: string | undefined, options: RenewOptions, command: Command) =>
      renew(await open(command), locker, options),
    )
}

async function renew(session: Session, wanted: string | undefined, options: RenewOptions): Promise<void> {
  const { output, host, gateway } = session
  requireAsset(options)
  const { asset } = options
  const locker = await session.locker(wanted)
  const { receipt_id } = locker
  const units = options.units ?? (await (await session.lockerClient(locker)).usage(locker, host.signal)).renewal_units
  const order = { units, extends: receipt_id }
  const quote = await (await session.client()).quote(order, { signal: host.signal })
  const isLocal = quote.extensions.svc.terms.environment === 'development'
  const offers = quote.accepts.map(({ extra, network }) => ({ ticker: extra.name, network }))
  const key = payingKey(await session.keys(), offers, asset)
  let isPaidNow = false
  const buyer = { seller: gateway, address: key.address }
  const orderText = `renew ${locker.locker_id} --units ${units}${asset ? ` --asset ${asset}` : ''}`
  const { receipt } = await payOnce(session, buyer, orderText, async (intent) => {
    const client = await session.client(key)
    const wallet = await key.wallet(nodeFor(key, session.settings, gateway))
    const approve: Approve = async (leg, fee) => {
      isPaidNow = await approvePayment(
        session,
        key,
        { leg, fee, isLocal },
        ['renewal', goodsText(locker, quote)],
        options,
      )
      return isPaidNow
    }
    return client.renew(locker, { units, intent, wallet, approve, ...(asset && { asset }), signal: host.signal })
  })
  const expires_at = await endOf(session, locker)
  output.result({ locker_id: locker.locker_id, receipt_id: receipt.receipt_id, receipt, expires_at }, () =>
    pairs([
      ...paidPairs(receipt, { service: gateway, isLocal }),
      ['locker', shown(lockerName(locker, true))],
      ...(expires_at === null ? [] : [['until', shown(timeText(expires_at))] as const]),
    ]),
  )
  if (!isPaidNow) output.note('\nThis purchase was already paid: no new payment was made.')
  output.note('\nNext: `svc status` shows the terms of the locker.')
}

/** Null for a locker of someone else: only its owner and operators may read its terms. */
async function endOf(session: Session, locker: NamedLocker): Promise<string | null> {
  try {
    return (await (await session.lockerClient(locker)).usage(locker, session.host.signal)).expires_at
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** The terms of the locker after the payment. */
function goodsText(locker: NamedLocker, { extensions }: Quote): string {
  const { price_summary, renewal } = extensions.svc
  const { units, total_usd } = price_summary
  const result = renewal
    ? `: ${bytesText(renewal.storage_limit_bytes)}, ${counted(renewal.file_limit, 'file')}, until ${timeText(renewal.expires_at)}`
    : ''
  return `${units} × ${lockerName(locker)}${result} (${total_usd} USD)`
}
