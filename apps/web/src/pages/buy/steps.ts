// The steps of one purchase. The SDK's journal records payments in this browser before they leave the page, so that a
// reload, a lost answer or a second tab never pays twice.

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
import { type Order, purchaseLocation, type SavedPurchase } from './saved-purchases.ts'

/** Loaded with the first purchase. */
export async function tools() {
  const sdk = await import('@svc/sdk')
  const place = await purchaseLocation()
  const { journal } = place
  return { sdk, journal, place, client: await createSignedClient(null, journal) }
}

/** Finds the outcome of started payments; without any, the purchase can be paid. */
export async function settle(active: ActivePurchase, problem: Problem | null = null): Promise<void> {
  active.doing('checking')
  const { sdk, place, client } = await tools()
  const record = await sdk.readPurchase(place, active.id)
  if (record?.receipt) return active.finish(record.receipt)
  if (record && (record.attempts.length > 0 || record.asked)) {
    const found = (await findQuietly(active, client)) ?? (await resume(active, client, record))
    if (found) return active.finish(found)
  }
  const { receipt } = await findElsewhere(await active.read(), client, active.signal)
  if (receipt) return active.finish(receipt)
  active.show({ at: 'pay', problem })
}

/** Resumes payments of a wallet that is not connected; null if none of them can land. */
async function resume(active: ActivePurchase, client: Client, record: PurchaseRecord): Promise<SignedReceipt | null> {
  const [{ sdk, journal, place }, { watchOnlyPayer }] = await Promise.all([tools(), import('../../wallets/payers.ts')])
  const payer = await watchOnlyPayer(record.payer)
  const notConnected = async (): Promise<never> => {
    throw new sdk.PaymentError('not_moved', 'the wallet is not connected')
  }
  const watching = await createSignedClient({ address: payer.address, sign: notConnected }, journal)
  const asset = record.order.pay_asset
  try {
    return await watching.buyQuoted({
      ...goodsOf((await active.read()).order),
      intent: active.id,
      wallet: watchedBy(active, payer),
      ...(typeof asset === 'string' && { asset }),
      quote: notConnected,
      signal: active.signal,
    })
  } catch (error) {
    if (error instanceof sdk.PaymentError && error.money === 'not_moved') {
      active.signal.throwIfAborted()
      await sdk.releaseUnpaid(place, active.id, payer)
      return null
    }
    // A phone may have paid even if the wallet did not.
    const found = await findQuietly(active, client)
    if (found) return found
    throw error
  }
}

/** Pays a leg of the newest quote with a connected wallet. */
export async function pay(active: ActivePurchase, { signer, payer }: ConnectedWallet, leg: PaymentLeg): Promise<void> {
  active.doing('checking')
  const { journal, client: plain } = await tools()
  const { receipt: paid } = await findElsewhere(await active.read(), plain, active.signal)
  if (paid) return active.finish(paid)
  const client = await createSignedClient(signer, journal)
  active.signal.throwIfAborted()
  const receipt = await client.buyQuoted({
    ...goodsOf((await active.read()).order),
    intent: active.id,
    wallet: { ...watchedBy(active, payer), network: leg.network },
    asset: leg.extra.name,
    quote: async () => newestQuote(await active.read()),
    approve: ({ extra, amount }) => extra.pay_req_id === leg.extra.pay_req_id && amount === leg.amount,
    signal: active.signal,
  })
  await active.finish(receipt)
}

/** Replaces an expired quote. Payments of all earlier quotes are still found. */
export async function renewQuote(active: ActivePurchase): Promise<void> {
  active.doing('quote')
  const { client } = await tools()
  const { receipt } = await findElsewhere(await active.read(), client, active.signal)
  if (receipt) return active.finish(receipt)
  const quote = await client.quote(orderOf((await active.read()).order), { signal: active.signal })
  active.signal.throwIfAborted()
  await active.change({ quotes: [...(await active.read()).quotes, quote] })
  active.show({ at: 'pay', problem: null })
  if ((await active.read()).isShownElsewhere) await watchElsewhere(await active.read())
}

/** Sends the gateway a transaction that was made elsewhere. */
export async function confirmTransaction(
  active: ActivePurchase,
  tx: string,
  preferred: PaymentLeg | null,
): Promise<void> {
  active.doing('confirming')
  const { client } = await tools()
  const { quotes } = await active.read()
  const legs = quotes
    .toReversed()
    .flatMap(({ accepts }) => accepts)
    .sort((a, b) => Number(isSameLeg(b, preferred)) - Number(isSameLeg(a, preferred)))
  await active.finish(await confirmOneOf(tx, legs, (leg) => client.confirm({ leg, tx }, { signal: active.signal })))
}

/** Lets the gateway issue the receipt while no page is open. If this fails, the page still finds the payment. */
export async function watchElsewhere(purchase: SavedPurchase): Promise<void> {
  const { pay_req_id } = newestQuote(purchase).extensions.svc.info
  const { client } = await tools()
  await client.call(watchPayment, { body: { pay_req_id } }).catch(() => {})
}

interface FoundElsewhere {
  receipt: SignedReceipt | null
  /** Whether the gateway no longer accepts payments for these quotes. */
  isOver: boolean
}

/** Checks once for a payment outside of this page. The gateway decides how late it may be. */
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
      // The gateway deletes quotes that can no longer be paid.
      if (!isGatewayError(error, 'quote_expired', 'pay_req_not_found')) throw error
    }
  }
  return { receipt: null, isOver }
}

/** Like `findElsewhere`, but ignores errors, because there is another way to find the payment. */
async function findQuietly(active: ActivePurchase, client: Client): Promise<SignedReceipt | null> {
  const found = await findElsewhere(await active.read(), client, active.signal).catch(() => null)
  return found?.receipt ?? null
}

/** Whether only the payer's wallet knows whether it sent a payment. */
export async function isUnanswered(id: string): Promise<boolean> {
  const { sdk, place } = await tools()
  const record = await sdk.readPurchase(place, id)
  return Boolean(record?.asked) || Boolean(record?.attempts.some(({ payment }) => payment.raw === ''))
}

function watchedBy(active: ActivePurchase, payer: Wallet): Wallet {
  return observed(payer, (step) => active.doing(step))
}

function newestQuote({ quotes }: SavedPurchase) {
  return quotes.at(-1) as SavedPurchase['quotes'][number] // at least one, by its making
}

/** The order as a request. The gateway has checked it, or will. */
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
