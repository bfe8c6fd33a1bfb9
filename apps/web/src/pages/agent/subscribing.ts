// Paying for a subscription. The name of a payment that is begun is kept in this browser until it is settled, and the
// SDK's journal records each payment before it leaves, so that a reload or a second tab never pays twice.

import type { Subscription, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentLeg } from '@svc/api/quote'
import type { PurchaseRecord, Wallet } from '@svc/sdk'
import { withPurchase } from '../buy/kept.ts'
import type { AgentSession } from './service.ts'

export type Doing = 'checking' | 'wallet' | 'sending' | 'confirming' | 'looking' | 'other_tab'

export type Paid =
  | { outcome: 'subscribed'; subscription: Subscription }
  /** Another tab has worked on it meanwhile. */
  | { outcome: 'elsewhere' }
  /** Nothing was paid, and nothing will be by what was begun. */
  | { outcome: 'void' }

/** Pays a leg of the quote that is shown. */
export function pay(
  session: AgentSession,
  quote: SubscriptionQuote,
  leg: PaymentLeg,
  onDoing: (doing: Doing) => void,
): Promise<Paid> {
  return alone(session, onDoing, async () => {
    const { subscription } = await session.agent.subscribe({
      intent: openIntent(session),
      wallet: observed(session.wallet.payerAt(session.node), onDoing),
      asset: leg.extra.name,
      quote,
      approve: ({ extra, amount, network }) =>
        extra.pay_req_id === leg.extra.pay_req_id && amount === leg.amount && network === leg.network,
    })
    closeIntent(session)
    return { outcome: 'subscribed', subscription }
  })
}

/** Finds out what became of a payment that was begun; pays nothing. */
export function settle(session: AgentSession, onDoing: (doing: Doing) => void): Promise<Paid> {
  return alone(session, onDoing, async () => {
    const record = await readBegun(session)
    const intent = localStorage.getItem(keyOf(session))
    if (!record || intent === null) return { outcome: 'void' }
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
      })
      closeIntent(session)
      return { outcome: 'subscribed', subscription }
    } catch (error) {
      if (!(error instanceof PaymentError) || error.money !== 'not_moved') throw error
      if (await releaseUnpaid(await placeOf(session), intent, wallet)) closeIntent(session)
      return { outcome: 'void' }
    }
  })
}

/** On the word of the payer, who has looked into the wallet. */
export async function nothingWasSent(session: AgentSession): Promise<void> {
  const { forgetUnansweredPayment } = await import('@svc/sdk')
  const intent = localStorage.getItem(keyOf(session))
  if (intent !== null) await forgetUnansweredPayment(await placeOf(session), intent)
}

/** What was begun and may have been paid; null if there is nothing. */
export async function readBegun(session: AgentSession): Promise<PurchaseRecord | null> {
  const { readPurchase } = await import('@svc/sdk')
  const intent = localStorage.getItem(keyOf(session))
  const record = intent === null ? null : await readPurchase(await placeOf(session), intent)
  return record && (record.receipt || record.asked || record.attempts.length > 0) ? record : null
}

/** Whether only the payer's wallet knows what it has sent. */
export function isUnanswered({ asked, attempts }: PurchaseRecord): boolean {
  return Boolean(asked) || attempts.some(({ payment }) => payment.raw === '')
}

async function alone(session: AgentSession, onDoing: (doing: Doing) => void, work: () => Promise<Paid>): Promise<Paid> {
  let paid: Paid = { outcome: 'elsewhere' }
  let hasWaited = false
  onDoing('checking')
  await withPurchase(
    keyOf(session),
    new AbortController().signal,
    async () => {
      if (!hasWaited) paid = await work()
    },
    () => {
      hasWaited = true
      onDoing('other_tab')
    },
  )
  return paid
}

function openIntent(session: AgentSession): string {
  const key = keyOf(session)
  const begun = localStorage.getItem(key)
  if (begun !== null) return begun
  const made = `subscription ${crypto.randomUUID()}`
  localStorage.setItem(key, made)
  return made
}

function closeIntent(session: AgentSession): void {
  localStorage.removeItem(keyOf(session))
}

function keyOf({ service, wallet }: AgentSession): string {
  return `svc page subscription ${service.url} ${wallet.address}`
}

async function placeOf({ service }: AgentSession) {
  const { storageJournal } = await import('@svc/sdk')
  return { journal: storageJournal(), baseUrl: service.url }
}

/** The wallet, and what it does for people to see. */
function observed(wallet: Wallet, onDoing: (doing: Doing) => void): Wallet {
  const { findSent } = wallet
  return {
    ...wallet,
    async sign(leg, maxFee) {
      onDoing('wallet')
      const signed = await wallet.sign(leg, maxFee)
      onDoing('sending')
      return signed
    },
    async outcomeOf(payment) {
      const outcome = await wallet.outcomeOf(payment)
      onDoing(outcome === 'landed' ? 'confirming' : 'sending')
      return outcome
    },
    ...(findSent && {
      findSent: (leg: PaymentLeg) => {
        onDoing('looking')
        return findSent(leg)
      },
    }),
  }
}
