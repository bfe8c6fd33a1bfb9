import { type PaymentLeg, type Price, price as priceEndpoint } from '@svc/api/purchases'
import { PaymentError } from '@svc/sdk/errors'
import type { Purchase } from '@svc/sdk/purchases/buy'
import type { Command } from 'commander'
import { rememberLocker } from '../config/known-lockers.ts'
import { durationText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { termsText } from '../output/terms.ts'
import type { Open } from '../program.ts'
import { askedAmount } from '../purchases/asked-amount.ts'
import { payingKey } from '../purchases/paying-key.ts'
import { beginPurchase, endPurchase } from '../purchases/unfinished.ts'
import type { Session } from '../session.ts'
import type { Key } from '../wallet/key.ts'
import { nodeFor } from '../wallet/nodes.ts'
import { listOption } from './list-option.ts'
import { type OrderOptions, withOrderOptions } from './order-options.ts'

interface BuyOptions extends OrderOptions {
  name?: string
  tag?: string[]
  operator?: string
}

export function add(program: Command, open: Open): void {
  withOrderOptions(program.command('buy').description('pay for a locker and open it; asks before money moves'))
    .option('--name <name>', 'call purchase and locker so: one name is bought once, however often you repeat it')
    .addOption(listOption('--tag <tag>', 'word to find the locker by; may be repeated'))
    .option('--operator <key>', 'Ed25519 key (base58) that may read, write and list from the start')
    .addHelpText(
      'after',
      '\nAfter any trouble, run the same command again: it goes on with the purchase that was begun, and pays nothing twice.',
    )
    .action(async (options: BuyOptions, command: Command) => buy(await open(command), options))
}

async function buy(session: Session, options: BuyOptions): Promise<void> {
  const { output, world, gateway } = session
  const { units, provider } = options
  const query = { units, ...(provider && { provider }) }
  const { body: price } = await (await session.client()).call(priceEndpoint, { query, signal: world.signal })
  const key = payingKey(await session.keys(), price, options.asset)
  let isPaidNow = false
  const bought = await payOnce(session, key, options, async (intent) => {
    const client = await session.client(key)
    const wallet = await key.wallet(nodeFor(key, session.settings, gateway))
    const approve = async (leg: PaymentLeg) => {
      isPaidNow = await approvePayment(session, price, key, leg)
      if (isPaidNow) output.note('Paying, and waiting for the chain…')
      return isPaidNow
    }
    return client.buy({ ...purchaseOf(options), intent, wallet, approve, signal: world.signal })
  })
  const { receipt, receipt_id, locker_id } = bought
  const name = options.name ?? null
  const added_at = new Date(world.now()).toISOString()
  await rememberLocker(session.folder, { receipt_id, locker_id, gateway, owner: key.address, name, added_at })
  output.result({ receipt_id, locker_id, name, receipt }, () =>
    pairs([
      ['paid', `${receipt.paid_amount} ${receipt.pay_asset} on ${receipt.network}`],
      ['payment', receipt.tx_hash],
      ['receipt', receipt_id],
      ['locker', name === null ? locker_id : `${locker_id} (${name})`],
    ]),
  )
  if (!isPaidNow) output.note('\nThis purchase had been paid before: nothing was paid now.')
  output.note('\nNext: `svc put PATH`')
}

function purchaseOf({ units, provider, asset, tag, operator }: BuyOptions): Omit<Purchase, 'intent' | 'wallet'> {
  return {
    units,
    ...(provider && { provider }),
    ...(asset && { asset }),
    ...(tag && { tags: tag }),
    ...(operator && { operator }),
  }
}

/** Under the name that was given, or the one of the same order that is not finished yet. */
async function payOnce<T>(
  { journal: openJournal, output, world, gateway }: Session,
  { address }: Key,
  options: BuyOptions,
  pay: (intent: string) => Promise<T>,
): Promise<T> {
  if (options.name !== undefined) return pay(options.name)
  const journal = await openJournal()
  const buyer = { gateway, address }
  const { intent, since, others } = await beginPurchase(journal, buyer, orderText(options), world.now())
  for (const { order, begun_at } of others)
    output.warn(
      `an earlier purchase is not finished: ${order}, begun ${begun_at}. Order the same again to go on with it`,
    )
  if (since !== null)
    output.note(`Going on with the purchase begun ${durationText((world.now() - Date.parse(since)) / 1000)} ago.`)
  try {
    const bought = await pay(intent)
    await endPurchase(journal, buyer, intent)
    return bought
  } catch (error) {
    if (error instanceof PaymentError && error.money === 'not_moved') await endPurchase(journal, buyer, intent)
    throw error
  }
}

function orderText({ units, provider, asset }: BuyOptions): string {
  return [`--units ${units}`, provider && `--provider ${provider}`, asset && `--asset ${asset}`]
    .filter(Boolean)
    .join(' ')
}

function approvePayment(session: Session, price: Price, key: Key, leg: PaymentLeg): Promise<boolean> {
  const { provider, units, providers, total_usd } = price
  const terms = providers[provider]?.terms
  session.output.note(
    pairs([
      ['storage', `${units} × ${provider}${terms ? `: ${termsText(terms)}` : ''} (${total_usd} USD)`],
      ['pay', shown(askedAmount(leg))],
      ['to', shown(leg.payTo)],
      ['on', shown(leg.network)],
      ['from', `${key.address} (${key.from}), and the network's fee`],
    ]),
  )
  return session.agrees(`Pay ${shown(askedAmount(leg))}?`)
}
