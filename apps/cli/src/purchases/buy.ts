import type { Price } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Approve, lockerOf, namedTags, type Purchase, readPurchase } from '@svc/sdk'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { assetToPayIn, maxOption, operatorOption, tagOption, withOrderOptions } from '../options.ts'
import { pairs } from '../output/table.ts'
import { paidPairs, termsText } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import { knownLockers, named, rememberLocker } from '../setup/known-lockers.ts'
import { isOnLocalChains } from '../setup/read-once.ts'
import { nodeFor } from '../setup/wallet.ts'
import { approvePayment, requireAsset } from './approve-payment.ts'
import { type BuyOptions, orderText, requireProvisionable } from './order.ts'
import { payOnce } from './pay-once.ts'
import { payingKey } from './paying-key.ts'
import { phonePurchase, resumeCommand } from './phone-purchase.ts'

export function add(program: Command, open: Open): void {
  const buying = program.command('buy').description('pay for a locker and open it; asks before it pays')
  withOrderOptions(buying, assetToPayIn())
    .addOption(maxOption())
    .option('--name <name>', 'name of the purchase and its locker; a name is paid for only once')
    .addOption(tagOption())
    .addOption(operatorOption())
    .option('--qr', 'pay with a phone wallet: shows a QR code, and waits for the payment')
    .addHelpText(
      'after',
      `
After any error, run the same command again: it resumes the purchase and never pays twice.
A name has at most 59 letters, digits, spaces and . _ @ + -, and begins with a letter or a digit.
The gateway stores it as a tag that you and the operators of the locker can see, so that
\`svc lockers --remote\` finds the locker on another machine.`,
    )
    .action(async (options: BuyOptions, command: Command) => {
      const buyBy = options.qr ? (await import('./buy-by-phone.ts')).buyByPhone : buy
      await buyBy(await open(command), options)
    })
}

async function buy(session: Session, options: BuyOptions): Promise<void> {
  const { output, host, gateway } = session
  const { units, provider } = options
  requireAsset(options)
  if (options.name !== undefined) await requireOwnPurchase(session, options.name)
  if (!(await isStarted(session, options.name))) requireProvisionable(options)
  const query = { units, ...(provider && { provider }) }
  const [price, isLocal] = await Promise.all([
    (await session.client()).price({ query, signal: host.signal }),
    isOnLocalChains(session),
  ])
  const offers = price.amounts.map(({ pay_asset: ticker, network }) => ({ ticker, network }))
  const key = payingKey(await session.keys(), offers, options.asset)
  const name = options.name ?? null
  let isPaidNow = false
  const pay = async (intent: string) => {
    const client = await session.client(key)
    const wallet = await key.wallet(nodeFor(key, session.settings, gateway))
    const approve: Approve = async (leg, fee) => {
      isPaidNow = await approvePayment(session, key, { leg, fee, isLocal }, ['storage', goodsText(price)], options)
      return isPaidNow
    }
    // Save the locker before it is opened and the purchase counts as finished: after a failure, the next run does not
    // buy another locker, and `svc provision` knows its name.
    const onReceipt = async ({ receipt_id }: SignedReceipt) => {
      const added_at = new Date(host.now()).toISOString()
      await rememberLocker(session.folder, { ...lockerOf(receipt_id), gateway, owner: key.address, name, added_at })
    }
    return client.buy({ ...purchaseOf(options), intent, wallet, approve, onReceipt, signal: host.signal })
  }
  const buyer = { seller: gateway, address: key.address }
  const bought = await (name === null ? payOnce(session, buyer, orderText(options), pay) : pay(name))
  const { receipt, receipt_id, locker_id } = bought
  output.result({ receipt_id, locker_id, name, receipt }, () =>
    pairs([
      ...paidPairs(receipt, { service: gateway, isLocal }),
      ['locker', name === null ? locker_id : `${locker_id} (${name})`],
    ]),
  )
  if (!isPaidNow) output.note('\nThis purchase was already paid: no new payment was made.')
  output.note('\nNext: `svc put PATH`')
}

/** A name is paid once. A purchase without a record on this machine shows only in the list of known lockers. */
async function requireOwnPurchase({ folder, gateway, journal }: Session, name: string): Promise<void> {
  const byPhone = await phonePurchase(await journal(), gateway, name).read()
  if (byPhone)
    throw new UsageError(
      `${name} was started with --qr, and a phone may have paid it`,
      `${resumeCommand(byPhone, name)} continues it; another purchase needs another name`,
    )
  const locker = named(await knownLockers(folder), gateway).find((known) => known.name === name)
  if (!locker || (await readPurchase({ journal: await journal(), baseUrl: gateway }, name))) return
  throw new UsageError(
    `the locker ${name} already exists: ${locker.locker_id}, bought by phone or on another machine. Nothing was paid`,
    `\`svc put -l ${name} PATH\` uses it; another purchase needs another name`,
  )
}

/** A purchase continues under any name that it was started with. */
async function isStarted({ gateway, journal }: Session, name: string | undefined): Promise<boolean> {
  return name !== undefined && (await readPurchase({ journal: await journal(), baseUrl: gateway }, name)) !== null
}

function purchaseOf({ units, provider, asset, name, tag, operator }: BuyOptions): Omit<Purchase, 'intent' | 'wallet'> {
  const tags = namedTags(tag, name ?? null)
  return {
    units,
    ...(provider && { provider }),
    ...(asset && { asset }),
    ...(tags && { tags }),
    ...(operator && { operator }),
  }
}

function goodsText({ provider, units, providers, total_usd }: Price): string {
  const terms = providers[provider]?.terms
  return `${units} × ${provider}${terms ? `: ${termsText(terms)}` : ''} (${total_usd} USD)`
}
