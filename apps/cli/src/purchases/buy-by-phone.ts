// Buys with a wallet on a phone: shows the payment as a QR code, waits until the gateway sees it, and confirms it.

import { setTimeout as sleep } from 'node:timers/promises'
import { findPayment, watchPayment } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Client, lockerOf, namedTags, readPurchase } from '@svc/sdk'
import { GatewayError, isGatewayError, PaymentError } from '@svc/sdk/errors'
import { transferRequestOf } from '@svc/sdk/wallet-urls'
import { Failure, UsageError } from '../errors.ts'
import { networkTitle } from '../output/networks.ts'
import { qrText } from '../output/qr.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { paidPairs } from '../output/texts.ts'
import type { Session } from '../session.ts'
import { knownLockers, named, rememberLocker } from '../setup/known-lockers.ts'
import { isOnLocalChains } from '../setup/read-once.ts'
import { requestedAmount, requireAsset, requireWithin } from './approve-payment.ts'
import { type BuyOptions, orderText, requireProvisionable } from './order.ts'
import { type PhonePurchase, phonePurchase, type RequestedPayment, resumeCommand } from './phone-purchase.ts'

export async function buyByPhone(session: Session, options: BuyOptions): Promise<void> {
  const { output, folder, gateway, host } = session
  const { name = null } = options
  const order = orderText(options)
  requireAsset(options)
  const entry = phonePurchase(await session.journal(), gateway, name ?? order)
  const before = await entry.read()
  if (!before) requireProvisionable(options)
  const started = before ?? { order, asked: [] }
  if (name !== null && started.order !== order)
    throw new UsageError(
      `${name} was started with another order: ${started.order}`,
      `${resumeCommand(started, name)} continues it; another order needs another name`,
    )
  const client = await session.client()
  const receipt =
    (await lookFor(session, client, started.asked, options)) ??
    (await askForPayment(session, client, started, options, (purchase) => entry.write(purchase)))
  const { receipt_id, payer_pubkey: owner } = receipt
  const { locker_id } = lockerOf(receipt_id)
  const added_at = new Date(host.now()).toISOString()
  await rememberLocker(folder, { receipt_id, locker_id, gateway, owner, name, added_at })
  await entry.write(null)
  const isOpen = await openLocker(session, receipt, options)
  const isLocal = await isOnLocalChains(session)
  output.result({ receipt_id, locker_id, name, receipt, opened: isOpen }, () =>
    pairs([...paidPairs(receipt, { service: gateway, isLocal }), ['owner', owner], ['locker', locker_id]]),
  )
  output.note(
    isOpen
      ? '\nNext: `svc put PATH`'
      : `\nThe wallet that paid owns the locker and can open it: \`svc provision ${receipt_id} --wallet FILE\` with its key.`,
  )
}

/** A name is paid once, by phone or from this machine. */
async function requireUnpaid({ folder, gateway, journal }: Session, name: string): Promise<void> {
  const hint = 'another purchase needs another name'
  if (named(await knownLockers(folder), gateway).some((known) => known.name === name))
    throw new UsageError(`${name} is already bought`, hint)
  if (await readPurchase({ journal: await journal(), baseUrl: gateway }, name))
    throw new UsageError(
      `${name} was started without --qr`,
      `run the same command without --qr to continue it; ${hint}`,
    )
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
  const options = { ...(tags && { tags }), ...(operator && { operator }), signal: session.host.signal }
  await (await session.client(key)).provision(receipt.receipt_id, options)
  return true
}

/** The time that a person needs to unlock a phone and to pay. */
const MIN_TIME_MS = 60_000

async function askForPayment(
  session: Session,
  client: Client,
  started: PhonePurchase,
  options: BuyOptions,
  note: (purchase: PhonePurchase) => Promise<boolean>,
): Promise<SignedReceipt> {
  const { output, host } = session
  if (options.name !== undefined) await requireUnpaid(session, options.name)
  const newest = started.asked.at(-1)
  const hasTime = newest !== undefined && Date.parse(newest.expires_at) - host.now() > MIN_TIME_MS
  const payment = hasTime ? newest : await newPayment(session, client, options)
  requireWithin(payment.leg, options)
  const asked = hasTime ? started.asked : [...started.asked, payment]
  // Record the payment before anyone can make it.
  if (!hasTime && !(await note({ ...started, asked })))
    throw new Failure('another process started the same purchase at the same moment')
  output.note(
    pairs([
      ['pay', shown(requestedAmount(payment.leg))],
      ['to', shown(payment.leg.payTo)],
      ['on', networkTitle(payment.leg.network)],
      ['until', shown(payment.expires_at)],
      ['owner', 'the wallet that pays'],
    ]),
  )
  output.note(`\n${qrText(payment.url)}\n`)
  output.result({ payment_url: payment.url, expires_at: payment.expires_at }, () => shown(payment.url))
  await askToWatch(client, payment, host.signal)
  return waitFor(session, client, asked, options)
}

async function newPayment(session: Session, client: Client, options: BuyOptions): Promise<RequestedPayment> {
  const { units, provider, asset } = options
  const quote = await client.quote({ units, ...(provider && { provider }) }, { signal: session.host.signal })
  const legs = quote.accepts.filter(({ extra }) => asset === undefined || extra.name === asset)
  const leg = legs.find(({ extra }) => extra.solana_pay) ?? legs[0]
  if (!leg) throw new UsageError(`this service does not accept ${asset}`)
  requireWithin(leg, options)
  // A URL for EVM wallets cannot contain the reference of the quote, so anyone could claim the payment.
  const request = await transferRequestOf(leg)
  if (request === null)
    throw new Failure(
      `${leg.extra.name} cannot be paid by QR code here`,
      'pay from this machine, or choose --asset SOL or USDC on the primary chain',
    )
  await requireRealMoneyIsSafe(session, quote)
  return { leg, url: request.url, expires_at: quote.extensions.svc.info.expires_at }
}

/** A phone pays on the real chain, whichever chain this gateway uses. */
async function requireRealMoneyIsSafe({ confirm }: Session, { extensions }: Quote): Promise<void> {
  if (extensions.svc.terms.environment !== 'development') return
  if (!(await confirm('This gateway is for development: a payment from a real wallet is lost. Show the code anyway?')))
    throw new Failure('the payment was cancelled')
}

const POLL_MS = 2_000
/** The gateway sees a payment of the last second a little later. */
const GRACE_MS = 60_000

async function waitFor(
  session: Session,
  client: Client,
  asked: readonly RequestedPayment[],
  options: BuyOptions,
): Promise<SignedReceipt> {
  const { output, host } = session
  const end = Math.max(...asked.map(({ expires_at }) => Date.parse(expires_at))) + GRACE_MS
  output.note('Waiting for the payment… (Ctrl-C stops waiting; run the same command to continue)')
  for (;;) {
    const receipt = await lookFor(session, client, asked, options)
    if (receipt) return receipt
    if (host.now() > end)
      throw new Failure(
        'nothing was paid in time',
        'run the same command again for a new code; do not pay with the old code',
      )
    await sleep(POLL_MS, undefined, { signal: host.signal })
  }
}

/** Lets the gateway issue the receipt even if this command stops. If the request fails, the payment is still found. */
async function askToWatch(client: Client, { leg }: RequestedPayment, signal: AbortSignal): Promise<void> {
  try {
    await client.call(watchPayment, { body: { pay_req_id: leg.extra.pay_req_id }, signal })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
  }
}

/** Temporary errors, and the errors of quotes that can no longer be paid. */
const TEMPORARY = ['chain_unavailable', 'RATE_LIMITED'] as const
const NOT_PAYABLE = ['quote_expired', 'pay_req_not_found'] as const

/** The receipt, if the gateway sees one of the payments. */
async function lookFor(
  session: Session,
  client: Client,
  asked: readonly RequestedPayment[],
  { units }: BuyOptions,
): Promise<SignedReceipt | null> {
  const { signal } = session.host
  for (const { leg } of asked) {
    try {
      const { pay_req_id, name } = leg.extra
      const { payment } = (await client.call(findPayment, { body: { pay_req_id }, signal })).body
      if (payment?.pay_asset === name)
        return await client.confirm({ leg, tx: payment.tx }, { expected: { units }, signal })
    } catch (error) {
      const cause = error instanceof PaymentError ? error.cause : error
      if (!isGatewayError(cause, ...TEMPORARY, ...NOT_PAYABLE)) throw error
    }
  }
  return null
}
