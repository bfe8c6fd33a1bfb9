// What is done for one purchase. Payments are recorded by the SDK's journal in this browser before they leave the page,
// so
// that a reload, a lost answer or a second tab never pays twice.

import { findPayment, watchPayment } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Client, PurchaseRecord, Wallet } from '@svc/sdk'
import { observed } from '../../paying/observed-wallet.ts'
import { confirmOneOf } from '../../paying/pasted-transaction.ts'
import type { Problem } from '../../paying/problem.ts'
import { createSignedClient } from '../../signed-client.ts'
import type { ConnectedWallet } from '../../wallets/wallet.ts'
import type { ActivePurchase } from './active-purchase.ts'
import { type Order, placeHere, type SavedPurchase } from './saved-purchases.ts'

/** Loaded with the first purchase. */
export async function tools() {
  const sdk = await import('@svc/sdk')
  const place = await placeHere()
  const { journal } = place
  return { sdk, journal, place, client: await createSignedClient(null, journal) }
}

/** Finds out the outcome of payments that were begun; if there are none, the purchase can be paid. */
export async function settle(held: ActivePurchase, problem: Problem | null = null): Promise<void> {
  held.doing('checking')
  const { sdk, place, client } = await tools()
  const record = await sdk.readPurchase(place, held.id)
  if (record?.receipt) return held.finish(record.receipt)
  if (record && (record.attempts.length > 0 || record.asked)) {
    const found = (await findQuietly(held, client)) ?? (await resume(held, client, record))
    if (found) return held.finish(found)
  }
  const { receipt } = await findElsewhere(await held.read(), client, held.signal)
  if (receipt) return held.finish(receipt)
  held.show({ at: 'pay', problem })
}

/** Goes on with payments of a wallet that is not connected; null if all of them are void. */
async function resume(held: ActivePurchase, client: Client, record: PurchaseRecord): Promise<SignedReceipt | null> {
  const [{ sdk, journal, place }, { watchedPayer }] = await Promise.all([tools(), import('../../wallets/payers.ts')])
  const payer = await watchedPayer(record.payer)
  const notConnected = async (): Promise<never> => {
    throw new sdk.PaymentError('not_moved', 'the wallet is not connected')
  }
  const watching = await createSignedClient({ address: payer.address, sign: notConnected }, journal)
  const asset = record.order.pay_asset
  try {
    return await watching.buyQuoted({
      ...goodsOf((await held.read()).order),
      intent: held.id,
      wallet: watchedBy(held, payer),
      ...(typeof asset === 'string' && { asset }),
      quote: notConnected,
      signal: held.signal,
    })
  } catch (error) {
    if (error instanceof sdk.PaymentError && error.money === 'not_moved') {
      held.signal.throwIfAborted()
      await sdk.releaseUnpaid(place, held.id, payer)
      return null
    }
    // Somebody may have paid from a phone, whatever the wallet did.
    const found = await findQuietly(held, client)
    if (found) return found
    throw error
  }
}

/** Pays a leg of the newest quote with a connected wallet. */
export async function pay(held: ActivePurchase, { signer, payer }: ConnectedWallet, leg: PaymentLeg): Promise<void> {
  held.doing('checking')
  const { journal, client: plain } = await tools()
  const { receipt: paid } = await findElsewhere(await held.read(), plain, held.signal)
  if (paid) return held.finish(paid)
  const client = await createSignedClient(signer, journal)
  held.signal.throwIfAborted()
  const receipt = await client.buyQuoted({
    ...goodsOf((await held.read()).order),
    intent: held.id,
    wallet: { ...watchedBy(held, payer), network: leg.network },
    asset: leg.extra.name,
    quote: async () => newestQuote(await held.read()),
    approve: ({ extra, amount }) => extra.pay_req_id === leg.extra.pay_req_id && amount === leg.amount,
    signal: held.signal,
  })
  await held.finish(receipt)
}

/** Another quote in place of one that has ended. Payments of all before it are still looked for. */
export async function renewQuote(held: ActivePurchase): Promise<void> {
  held.doing('quote')
  const { client } = await tools()
  const { receipt } = await findElsewhere(await held.read(), client, held.signal)
  if (receipt) return held.finish(receipt)
  const quote = await client.quote(orderOf((await held.read()).order), { signal: held.signal })
  held.signal.throwIfAborted()
  await held.change({ quotes: [...(await held.read()).quotes, quote] })
  held.show({ at: 'pay', problem: null })
  if ((await held.read()).isShownElsewhere) await watchElsewhere(await held.read())
}

/** Shows the gateway a transaction that was made elsewhere. */
export async function confirmTransaction(
  held: ActivePurchase,
  tx: string,
  preferred: PaymentLeg | null,
): Promise<void> {
  held.doing('confirming')
  const { client } = await tools()
  const { quotes } = await held.read()
  const legs = quotes
    .toReversed()
    .flatMap(({ accepts }) => accepts)
    .sort((a, b) => Number(isSameLeg(b, preferred)) - Number(isSameLeg(a, preferred)))
  await held.finish(await confirmOneOf(tx, legs, (leg) => client.confirm({ leg, tx }, { signal: held.signal })))
}

/** Then the gateway makes the receipt also while no page is open. Without it, the payment is found all the same. */
export async function watchElsewhere(purchase: SavedPurchase): Promise<void> {
  const { pay_req_id } = newestQuote(purchase).extensions.svc.info
  const { client } = await tools()
  await client.call(watchPayment, { body: { pay_req_id } }).catch(() => {})
}

interface FoundElsewhere {
  receipt: SignedReceipt | null
  /** Whether the gateway would take no payment of these quotes any more. */
  isOver: boolean
}

/** Looks once for a payment that was made outside of this page. How long it may be late is the gateway's to say. */
export async function findElsewhere(
  { isShownElsewhere, quotes }: SavedPurchase,
  client: Client,
  signal?: AbortSignal,
): Promise<FoundElsewhere> {
  const { isGatewayError } = await import('@svc/sdk')
  let isOver = true
  for (const quote of isShownElsewhere ? quotes.toReversed() : []) {
    const { pay_req_id } = quote.extensions.svc.info
    try {
      const { payment } = (await client.call(findPayment, { body: { pay_req_id }, signal })).body
      isOver = false
      const leg = payment && quote.accepts.find((one) => isPrimary(one) && one.extra.name === payment.pay_asset)
      if (leg) return { receipt: await client.confirm({ leg, tx: payment.tx }, { signal }), isOver }
    } catch (error) {
      // The gateway deletes quotes that nobody can pay any more.
      if (!isGatewayError(error, 'quote_expired', 'pay_req_not_found')) throw error
    }
  }
  return { receipt: null, isOver }
}

/** Where another way to find the payment is left. */
async function findQuietly(held: ActivePurchase, client: Client): Promise<SignedReceipt | null> {
  const found = await findElsewhere(await held.read(), client, held.signal).catch(() => null)
  return found?.receipt ?? null
}

/** Whether only the payer's wallet knows what it has sent. */
export async function isUnanswered(id: string): Promise<boolean> {
  const { sdk, place } = await tools()
  const record = await sdk.readPurchase(place, id)
  return Boolean(record?.asked) || Boolean(record?.attempts.some(({ payment }) => payment.raw === ''))
}

function watchedBy(held: ActivePurchase, payer: Wallet): Wallet {
  return observed(payer, (step) => held.doing(step))
}

function newestQuote({ quotes }: SavedPurchase) {
  return quotes.at(-1) as SavedPurchase['quotes'][number] // at least one, by its making
}

/** The gateway gave a quote for it, or refuses it. */
export function orderOf(order: Order): Parameters<Client['quote']>[0] {
  return order as Parameters<Client['quote']>[0]
}

function goodsOf(order: Order) {
  const { units, provider, extends: of } = orderOf(order)
  return { units, ...(provider && { provider }), ...(of && { extends: of }) }
}

export function isPrimary({ network }: PaymentLeg): boolean {
  return network.startsWith('solana:')
}

export function isSameLeg(leg: PaymentLeg, other: PaymentLeg | null): boolean {
  return other !== null && leg.network === other.network && leg.asset === other.asset
}
