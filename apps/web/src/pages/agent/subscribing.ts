// Paying for a subscription. The SDK's journal keeps the name of a payment that is begun until it is settled, and
// records
// each payment before it leaves, so that a reload or a second tab never pays twice.

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
  /** Another tab has worked on it meanwhile. */
  | { outcome: 'elsewhere' }
  /** Nothing was paid, and nothing will be by what was begun. */
  | { outcome: 'void' }
  /** Something else was begun instead. */
  | { outcome: 'stopped' }

/** One step at a time: what is begun ends what runs. */
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
    /** Finds out the outcome of a payment that was begun; pays nothing. */
    settle: () => run(settle),
    /** Shows the service a transaction that only the wallet knew of. */
    confirmTransaction: (tx: string) => run((now) => confirmTransaction(now, tx)),
    /** On the word of the payer, who has looked into the wallet. */
    nothingWasSent: () =>
      run(async (now) => {
        const { forgetUnansweredPayment } = await import('@svc/sdk')
        const intent = await begunIntent(session)
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
  const intent = await begunIntent(session)
  if (intent === null) return { outcome: 'elsewhere' }
  const record = await readBegun(session)
  if (!record) return { outcome: 'void' }
  const [{ PaymentError, releaseUnpaid }, { watchedWallet }] = await Promise.all([
    import('@svc/sdk'),
    import('@svc/sdk/gateway-wallets'),
  ])
  const { namespace, address } = session.wallet
  const wallet = watchedWallet(session.node, namespace, address)
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
  const intent = await begunIntent(session)
  const record = await readBegun(session)
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

/** What was begun and may have been paid; null if there is nothing. */
export async function readBegun(session: AgentSession): Promise<PurchaseRecord | null> {
  const { readPurchase } = await import('@svc/sdk')
  const intent = await begunIntent(session)
  const record = intent === null ? null : await readPurchase(await placeOf(session), intent)
  return record && (record.receipt || record.asked || record.attempts.length > 0) ? record : null
}

/** Whether only the payer's wallet knows what it has sent. */
export function isUnanswered({ asked, attempts }: PurchaseRecord): boolean {
  return Boolean(asked) || attempts.some(({ payment }) => payment.raw === '')
}

/** If another tab was at work, nothing is done: what it has done comes first. */
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

/** Of a subscription at this service, whatever it is paid with: one is paid before another is begun. */
const ORDER = 'subscribe'

async function openIntent(session: AgentSession): Promise<string> {
  const begun = await begunIntent(session)
  if (begun !== null) return begun
  const { beginPurchase } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  return (await beginPurchase(journal, buyerOf(session), ORDER, Date.now())).intent
}

async function begunIntent(session: AgentSession): Promise<string | null> {
  const { adoptPurchase, unfinishedPurchases } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  const begun = (await unfinishedPurchases(journal, buyerOf(session))).find(({ order }) => order === ORDER)
  if (begun) return begun.intent
  // Release 1.1.0 kept the name apart.
  const intent = localStorage.getItem(keyOf(session))
  if (intent === null) return null
  await adoptPurchase(journal, buyerOf(session), { intent, order: ORDER, begun_at: new Date().toISOString() })
  localStorage.removeItem(keyOf(session))
  return intent
}

async function closeIntent(session: AgentSession): Promise<void> {
  const { endPurchase } = await import('@svc/sdk')
  const { journal } = await placeOf(session)
  const intent = await begunIntent(session)
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
