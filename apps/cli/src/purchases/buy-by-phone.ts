// Buys with a wallet on a phone: shows the payment as a QR code, finds it on chain, and confirms it.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { toBase58 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Client, lockerOf, namedTags, readPurchase } from '@svc/sdk'
import { isGatewayError, PaymentError } from '@svc/sdk/errors'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { solanaPayUrl } from '@svc/sdk/wallet-urls'
import { Failure, UsageError } from '../errors.ts'
import { qrText } from '../output/qr.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { paidPairs } from '../output/texts.ts'
import type { Session } from '../session.ts'
import { knownLockers, rememberLocker } from '../setup/known-lockers.ts'
import { nodeFor } from '../setup/wallet.ts'
import { askedAmount, requireAsset, requireWithin } from './approve-payment.ts'
import { type BuyOptions, orderText } from './order.ts'
import { type AskedPayment, type PhonePurchase, phonePurchase, resumeCommand } from './phone-purchase.ts'

export async function buyByPhone(session: Session, options: BuyOptions): Promise<void> {
  const { output, folder, gateway, world } = session
  const { name = null } = options
  const order = orderText(options)
  requireAsset(options)
  const entry = phonePurchase(await session.journal(), gateway, name ?? order)
  const begun = (await entry.read()) ?? { order, asked: [] }
  if (name !== null && begun.order !== order)
    throw new UsageError(
      `${name} was begun as another order: ${begun.order}`,
      `${resumeCommand(begun, name)} goes on with it; another order needs another name`,
    )
  const client = await session.client()
  const receipt =
    (await lookFor(session, client, begun.asked, options)) ??
    (await askForPayment(session, client, begun, options, (purchase) => entry.write(purchase)))
  const { receipt_id, payer_pubkey: owner } = receipt
  const { locker_id } = lockerOf(receipt_id)
  const added_at = new Date(world.now()).toISOString()
  await rememberLocker(folder, { receipt_id, locker_id, gateway, owner, name, added_at })
  await entry.write(null)
  const isOpen = await openLocker(session, receipt, options)
  output.result({ receipt_id, locker_id, name, receipt, opened: isOpen }, () =>
    pairs([...paidPairs(receipt, gateway), ['owner', owner], ['locker', locker_id]]),
  )
  output.note(
    isOpen
      ? '\nNext: `svc put PATH`'
      : `\nThe wallet that paid owns the locker, and opens it: \`svc provision ${receipt_id} --wallet FILE\` with its key.`,
  )
}

/** A name is paid once, by phone or from this machine. */
async function requireUnpaid({ folder, gateway, journal }: Session, name: string): Promise<void> {
  const hint = 'another purchase needs another name'
  if ((await knownLockers(folder)).some((known) => known.gateway === gateway && known.name === name))
    throw new UsageError(`${name} is bought already`, hint)
  if (await readPurchase({ journal: await journal(), baseUrl: gateway }, name))
    throw new UsageError(`${name} was begun without --qr`, `the same command without --qr goes on with it; ${hint}`)
}

/** Only the key that paid can open the locker. */
async function openLocker(
  session: Session,
  receipt: SignedReceipt,
  { tag, name, operator }: BuyOptions,
): Promise<boolean> {
  const key = (await session.keys()).find(({ address }) => address === receipt.payer_pubkey)
  if (!key) return false
  const tags = namedTags(tag, name ?? null)
  const options = { ...(tags && { tags }), ...(operator && { operator }), signal: session.world.signal }
  await (await session.client(key)).provision(receipt.receipt_id, options)
  return true
}

/** As long as it takes to unlock a phone and to pay. */
const LEAST_TIME_MS = 60_000

async function askForPayment(
  session: Session,
  client: Client,
  begun: PhonePurchase,
  options: BuyOptions,
  note: (purchase: PhonePurchase) => Promise<boolean>,
): Promise<SignedReceipt> {
  const { output, world } = session
  if (options.name !== undefined) await requireUnpaid(session, options.name)
  const newest = begun.asked.at(-1)
  const hasTime = newest !== undefined && Date.parse(newest.expires_at) - world.now() > LEAST_TIME_MS
  const payment = hasTime ? newest : await newPayment(session, client, options)
  requireWithin(payment.leg, options)
  const asked = hasTime ? begun.asked : [...begun.asked, payment]
  // Noted before anybody can pay it.
  if (!hasTime && !(await note({ ...begun, asked })))
    throw new Failure('the same purchase was begun elsewhere at this moment')
  output.note(
    pairs([
      ['pay', shown(askedAmount(payment.leg))],
      ['to', shown(payment.leg.payTo)],
      ['on', shown(payment.leg.network)],
      ['until', shown(payment.expires_at)],
      ['owner', 'the wallet that pays'],
    ]),
  )
  output.note(`\n${qrText(payment.url)}\n`)
  output.result({ payment_url: payment.url, expires_at: payment.expires_at }, () => shown(payment.url))
  return waitFor(session, client, asked, options)
}

async function newPayment(session: Session, client: Client, options: BuyOptions): Promise<AskedPayment> {
  const { units, provider, asset } = options
  // Of all assets, because a wallet needs more than its own leg tells.
  const quote = await client.quote({ units, ...(provider && { provider }) }, { signal: session.world.signal })
  const legs = quote.accepts.filter(({ extra }) => asset === undefined || extra.name === asset)
  const leg = legs.find((one) => !isEvm(one)) ?? legs[0]
  if (!leg) throw new UsageError(`this service does not take ${asset}`)
  requireWithin(leg, options)
  const reference = toBase58(randomBytes(32))
  const label = new URL(session.gateway).host
  // A URL for EVM wallets has no place for the reference of the quote, so anybody could claim the payment.
  const url = isEvm(leg) ? null : await solanaPayUrl({ accepts: quote.accepts, leg, reference, label })
  if (url === null)
    throw new Failure(
      `no wallet can pay ${leg.extra.name} here by a QR code`,
      'pay from this machine, or --asset SOL / USDC on the primary chain',
    )
  await requireRealMoneyIsSafe(session, quote)
  return { leg, url, reference, expires_at: quote.extensions.svc.info.expires_at }
}

function isEvm({ network }: PaymentLeg): boolean {
  return network.startsWith('eip155:')
}

/** A phone pays on the real chain, whatever this gateway uses. */
async function requireRealMoneyIsSafe({ confirm }: Session, { extensions }: Quote): Promise<void> {
  if (extensions.svc.terms.environment !== 'development') return
  if (!(await confirm('This gateway is for development: what a real wallet pays is lost. Show the code anyway?')))
    throw new Failure('nothing was asked for')
}

const POLL_MS = 2_000
/** A payment of the last second is seen a little later. */
const GRACE_MS = 60_000

async function waitFor(
  session: Session,
  client: Client,
  asked: readonly AskedPayment[],
  options: BuyOptions,
): Promise<SignedReceipt> {
  const { output, world } = session
  const end = Math.max(...asked.map(({ expires_at }) => Date.parse(expires_at))) + GRACE_MS
  output.note('Waiting for the payment… (Ctrl-C ends it; the same command goes on)')
  for (;;) {
    const receipt = await lookFor(session, client, asked, options)
    if (receipt) return receipt
    if (world.now() > end)
      throw new Failure('nothing was paid in time', 'run the same command again for a new code; do not pay the old one')
    await sleep(POLL_MS, undefined, { signal: world.signal })
  }
}

/** The receipt, if one of the payments is on chain. */
async function lookFor(
  session: Session,
  client: Client,
  asked: readonly AskedPayment[],
  { units }: BuyOptions,
): Promise<SignedReceipt | null> {
  const { world, settings, gateway, output } = session
  const { signal } = world
  const ask = jsonRpc(nodeFor({ namespace: 'solana' }, settings, gateway), { signal })
  for (const { leg, reference } of asked) {
    const found = (await ask('getSignaturesForAddress', [reference, { commitment: 'confirmed', limit: 20 }])) as Found[]
    for (const { signature: tx } of found.filter(({ err }) => err === null)) {
      const receipt = await client.confirm({ leg, tx }, { expected: { units }, signal }).catch((error: unknown) => {
        // Anybody who saw the code can name its reference in a transaction that pays nothing.
        const cause = error instanceof PaymentError ? error.cause : error
        if (!isGatewayError(cause, 'payment_verification_failed')) throw error
        output.warn(`${tx} does not pay this: ${shown(cause.message)}`)
        return null
      })
      if (receipt) return receipt
    }
  }
  return null
}

interface Found {
  signature: string
  err: unknown
}
