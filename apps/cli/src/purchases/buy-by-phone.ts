// Buys with a wallet on a phone: shows the payment as a QR code, finds it on chain, and confirms it.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { toBase58 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Client, journalEntry, lockerOf, namedTags } from '@svc/sdk'
import { isGatewayError, PaymentError } from '@svc/sdk/errors'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { eip681Url, solanaPayUrl } from '@svc/sdk/wallet-urls'
import { Failure, UsageError } from '../errors.ts'
import { askLine } from '../output/confirm.ts'
import { qrText } from '../output/qr.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { paidPairs } from '../output/texts.ts'
import type { Session } from '../session.ts'
import { knownLockers, rememberLocker } from '../setup/known-lockers.ts'
import { nodeFor } from '../setup/wallet.ts'
import { askedAmount, requireAsset, requireWithin } from './approve-payment.ts'
import { type BuyOptions, orderText } from './order.ts'

/** What must be known to find the payment again after an interruption. */
interface AskedPayment {
  leg: PaymentLeg
  /** What the QR code says. */
  url: string
  /** Under which the payment is found on chain; null where wallets cannot note one. */
  reference: string | null
  expires_at: string
}

export async function buyByPhone(session: Session, options: BuyOptions): Promise<void> {
  const { output, folder, gateway, world } = session
  const { name = null } = options
  requireAsset(options)
  if (name !== null && (await knownLockers(folder)).some((known) => known.gateway === gateway && known.name === name))
    throw new UsageError(`${name} is bought already`, 'another purchase needs another name')
  const entry = journalEntry<AskedPayment>(
    await session.journal(),
    `phone purchase ${gateway} ${name ?? orderText(options)}`,
  )
  const begun = await entry.read()
  const client = await session.client()
  const receipt =
    (begun && (await lookFor(session, client, begun))) ??
    (await askForPayment(session, client, begun ?? null, options, (asked) => entry.write(asked)))
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
  begun: AskedPayment | null,
  options: BuyOptions,
  note: (asked: AskedPayment) => Promise<boolean>,
): Promise<SignedReceipt> {
  const { output, world } = session
  const hasTime = begun !== null && Date.parse(begun.expires_at) - world.now() > LEAST_TIME_MS
  const asked = hasTime ? begun : await newPayment(session, client, options)
  // Noted before anybody can pay it.
  if (!hasTime && !(await note(asked))) throw new Failure('the same purchase was begun elsewhere at this moment')
  output.note(
    pairs([
      ['pay', shown(askedAmount(asked.leg))],
      ['to', shown(asked.leg.payTo)],
      ['on', shown(asked.leg.network)],
      ['until', shown(asked.expires_at)],
      ['owner', 'the wallet that pays'],
    ]),
  )
  output.note(`\n${qrText(asked.url)}\n`)
  output.result({ payment_url: asked.url, expires_at: asked.expires_at }, () => shown(asked.url))
  return waitFor(session, client, asked)
}

async function newPayment(session: Session, client: Client, options: BuyOptions): Promise<AskedPayment> {
  const { units, provider, asset } = options
  // Of all assets, because a wallet needs more than its own leg tells.
  const quote = await client.quote({ units, ...(provider && { provider }) }, { signal: session.world.signal })
  const leg = quote.accepts.find(({ extra }) => asset === undefined || extra.name === asset)
  if (!leg) throw new UsageError(`this service does not take ${asset}`)
  requireWithin(leg, options)
  await requireRealMoneyIsSafe(session, quote)
  const { expires_at } = quote.extensions.svc.info
  if (leg.network.startsWith('eip155:')) return { leg, url: eip681Url(leg), reference: null, expires_at }
  const reference = toBase58(randomBytes(32))
  const label = new URL(session.gateway).host
  const url = await solanaPayUrl({ accepts: quote.accepts, leg, reference, label })
  if (url === null)
    throw new Failure(
      `no wallet can pay ${leg.extra.name} here by a QR code`,
      'try --asset SOL, or pay from this machine',
    )
  return { leg, url, reference, expires_at }
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

async function waitFor(session: Session, client: Client, asked: AskedPayment): Promise<SignedReceipt> {
  const { output, world } = session
  if (asked.reference === null) {
    const tx = (await askLine(world, 'The transaction, once it is paid:')).trim()
    if (tx === '') throw new Failure('no transaction was named', 'run the same command again once it is paid')
    return client.confirm({ leg: asked.leg, tx }, { signal: world.signal })
  }
  output.note('Waiting for the payment… (Ctrl-C ends it; the same command goes on)')
  for (;;) {
    const receipt = await lookFor(session, client, asked)
    if (receipt) return receipt
    if (world.now() > Date.parse(asked.expires_at) + GRACE_MS)
      throw new Failure('nothing was paid in time', 'run the same command again for a new code; do not pay the old one')
    await sleep(POLL_MS, undefined, { signal: world.signal })
  }
}

/** The receipt, if the payment is on chain. */
async function lookFor(session: Session, client: Client, asked: AskedPayment): Promise<SignedReceipt | null> {
  const { world, settings, gateway, output } = session
  const { leg, reference } = asked
  const { signal } = world
  if (reference === null) return null
  const ask = jsonRpc(nodeFor({ namespace: 'solana' }, settings, gateway), { signal })
  const found = (await ask('getSignaturesForAddress', [reference, { commitment: 'confirmed', limit: 20 }])) as Found[]
  for (const { signature: tx, err } of found) {
    if (err !== null) continue
    const receipt = await client.confirm({ leg, tx }, { signal }).catch((error: unknown) => {
      // Anybody who saw the code can name its reference in a transaction that pays nothing.
      const cause = error instanceof PaymentError ? error.cause : error
      if (!isGatewayError(cause, 'payment_verification_failed')) throw error
      output.warn(`${tx} does not pay this: ${shown(cause.message)}`)
      return null
    })
    if (receipt) return receipt
  }
  return null
}

interface Found {
  signature: string
  err: unknown
}
