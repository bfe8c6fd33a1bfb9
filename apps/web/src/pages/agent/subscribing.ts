// Pays for a subscription. The SDK's journal stores the intent of a payment until it is settled, and records each payment
// before it is sent, so that a reload or a second tab never pays twice.

import { signal } from '@preact/signals'
import type { Subscription, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentLeg } from '@svc/api/quote'
import type { PurchaseRecord } from '@svc/sdk'
import { observed, type PaymentStep } from '../../paying/observed-wallet.ts'
import { oneAtATime, withPurchase } from '../../paying/one-at-a-time.ts'
import { confirmOneOf } from '../../paying/pasted-transaction.ts'
import type { AgentSession } from './service.ts'

export type Doing = PaymentStep | 'checking' | 'other_tab'

export type Paid =
  | { outcome: 'subscribed'; subscription: Subscription }
  /** Another tab has worked on it in the meantime. */
  | { outcome: 'elsewhere' }
  /** Nothing was paid, and no payment of this attempt can still land. */
  | { outcome: 'void' }
  /** A newer task replaced this one. */
  | { outcome: 'stopped' }

/** Runs one step at a time: a new step aborts the running one. */
export function createSubscribing(session: AgentSession) {
  const doing = signal<Doing | null>(null)
  const work = oneAtATime()

  async function run(step: (now: Now) => Promise<Paid>): Promise<Paid> {
    let paid: Paid = { outcome: 'stopped' }
    await work.run(async (signal) => {
      const onDoing = (next: Doing) => {
        if (!signal.aborted) doing.value = next
      }
      onDoing('checking')
      try {
        paid = await alone(session, signal, onDoing, () => step({ session, signal, onDoing }))
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        if (!signal.aborted) doing.value = null
      }
    })
    return paid
  }

  return {
    doing,
    /** Pays a leg of the quote that is shown. */
    pay: (quote: SubscriptionQuote, leg: PaymentLeg) => run((now) => pay(now, quote, leg)),
    /** Finds the outcome of a started payment; pays nothing. */
    settle: () => run(settle),
    /** Sends the service a transaction that only the wallet knew. */
    confirmTransaction: (tx: string) => run((now) => confirmTransaction(now, tx)),
    /** Relies on the payer, who has checked the wallet. */
    nothingWasSent: () =>
      run(async (now) => {
        const { forgetUnansweredPayment } = await import('@svc/sdk')
        const intent = await startedIntent(session)
        if (intent !== null) await forgetUnansweredPayment(await placeOf(session), intent)
        return settle(now)
      }),
    stop: work.stop,
  }
}

interface Now {
  session: AgentSession
  signal: AbortSignal
  onDoing: (doing: Doing) => void
}

async function pay({ session, signal, onDoing }: Now, quote: SubscriptionQuote, leg: PaymentLeg): Promise<Paid> {
  const { subscription } = await session.agent.subscribe({
    intent: await openIntent(session),
    wallet: { ...observed(session.wallet.payerAt(session.node), onDoing), network: leg.network },
    asset: leg.extra.name,
    quote,
    approve: ({ extra, amount, network }) =>
      extra.pay_req_id === leg.extra.pay_req_id && amount === leg.amount && network === leg.network,
    signal,
  })
  await closeIntent(session)
  return { outcome: 'subscribed', subscription }
}

async function settle({ session, signal, onDoing }: Now): Promise<Paid> {
  const intent = await startedIntent(session)
  if (intent === null) return { outcome: 'elsewhere' }
  const record = await readStarted(session)
  if (!record) return { outcome: 'void' }
  const [{ PaymentError, releaseUnpaid }, { watchOnlyWallet }] = await Promise.all([
    import('@svc/sdk'),
    import('@svc/sdk/gateway-wallets'),
  ])
  const { namespace, address } = session.wallet
  const wallet = watchOnlyWallet(session.node, namespace, address)
  const asset = record.order.pay_asset
  try {
    const { subscription } = await session.agent.subscribe({
      intent,
      wallet: observed(wallet, onDoing),
      ...(typeof asset === 'string' && { asset }),
      approve: () => false,
      signal,
    })
    await closeIntent(session)
    return { outcome: 'subscribed', subscription }
  } catch (error) {
    if (!(error instanceof PaymentError) || error.money !== 'not_moved') throw error
    signal.throwIfAborted()
    if (await releaseUnpaid(await placeOf(session), intent, wallet)) await closeIntent(session)
    return { outcome: 'void' }
  }
}

async function confirmTransaction({ session, signal, onDoing }: Now, tx: string): Promise<Paid> {
  const intent = await startedIntent(session)
  const record = await readStarted(session)
  if (intent === null || !record) return { outcome: 'elsewhere' }
  onDoing('confirming')
  const legs = [...(record.asked ? [record.asked] : []), ...record.attempts].map(({ leg }) => leg)
  const expected = { units: 1, payer_pubkey: session.wallet.address }
  const { subscription } = await confirmOneOf(tx, legs, (leg) =>
    session.agent.confirm({ leg, tx }, { expected, signal }),
  )
  const { forgetPurchase } = await import('@svc/sdk')
  await forgetPurchase(await placeOf(session), intent)
  await closeIntent(session)
  return { outcome: 'subscribed', subscription }
}

/** The started payment that may have been made; null if there is none. */
export async function readStarted(session: AgentSession): Promise<PurchaseRecord | null> {
  const { readPurchase } = await import('@svc/sdk')
  const intent = await startedIntent(session)
  const record = intent === null ? null : await readPurchase(await placeOf(session), intent)
  return record && (record.receipt || record.asked || record.attempts.length > 0) ? record : null
}

/** Whether only the payer's wallet knows whether it sent a payment. */
export function isUnanswered({ asked, attempts }: PurchaseRecord): boolean {
  return Boolean(asked) || attempts.some(({ payment }) => payment.raw === '')
}

/** Does nothing if another tab was at work: its outcome comes first. */
async function alone(
  session: AgentSession,
  signal: AbortSignal,
  onDoing: (doing: Doing) => void,
  step: () => Promise<Paid>,
): Promise<Paid> {
  let paid: Paid = { outcome: 'elsewhere' }
  let hasWaited = false
  await withPurchase(
    keyOf(session),
    signal,
    async () => {
      if (!hasWaited) paid = await step()
    },
    () => {
      hasWaited = true
      onDoing('other_tab')
    },
  )
  return paid
}

/** The order name of every subscription at this service, for any asset: one is settled before another starts. */
const ORDER = 'subscribe'

async function openIntent(session: AgentSession): Promise<string> {
  const started = await startedIntent(session)
  if (started !== null) return started
  const { beginPurchase } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  return (await beginPurchase(journal, buyerOf(session), ORDER, Date.now())).intent
}

async function startedIntent(session: AgentSession): Promise<string | null> {
  const { adoptPurchase, unfinishedPurchases } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  const started = (await unfinishedPurchases(journal, buyerOf(session))).find(({ order }) => order === ORDER)
  if (started) return started.intent
  // Release 1.1.0 stored the name separately.
  const intent = localStorage.getItem(keyOf(session))
  if (intent === null) return null
  await adoptPurchase(journal, buyerOf(session), { intent, order: ORDER, begun_at: new Date().toISOString() })
  localStorage.removeItem(keyOf(session))
  return intent
}

async function closeIntent(session: AgentSession): Promise<void> {
  const { endPurchase } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  const intent = await startedIntent(session)
  if (intent !== null) await endPurchase(journal, buyerOf(session), intent)
}

function buyerOf({ service, wallet }: AgentSession) {
  return { seller: service.url, address: wallet.address }
}

/** Names the lock of the work on a subscription, as 1.1.0 does. */
function keyOf({ service, wallet }: AgentSession): string {
  return `svc page subscription ${service.url} ${wallet.address}`
}

async function placeOf({ service }: AgentSession) {
  const { storageJournal } = await import('@svc/sdk')
  return { journal: storageJournal(), baseUrl: service.url }
}
