import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { lockerOf, type PurchaseRecord } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import Type, { type Static } from 'typebox'
import { type Context, dayOf, requireOwner } from '../context.ts'
import { dollarText } from '../money/dollars.ts'
import { readPurchase } from '../money/intent.ts'
import { counted } from '../server/readable.ts'
import { type Outcome, READS, STRICT, tool } from './tool.ts'

const STATES = ['unknown', 'not_paid', 'payment_uncertain', 'receipt_missing', 'locker_missing', 'complete'] as const
type State = (typeof STATES)[number]

const Payment = Type.Object({
  tx: Type.String(),
  amount: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  outcome: Type.Enum(['landed', 'failed', 'expired', 'pending'], {
    description: '`failed` and `expired` moved nothing; `pending` may still land.',
  }),
  fate: Type.Enum(['landed', 'failed', 'impossible', 'unknown'], {
    description: '`outcome` as version 1.0.0 named it.',
  }),
})

/** The goods of a purchase. */
const Goods = Type.Enum(['locker', 'subscription'])

const Status = Type.Object({
  intent: Type.Union([Type.String(), Type.Null()]),
  of: Type.Union([Goods, Type.Null()]),
  state: Type.Enum([...STATES, 'list']),
  payments: Type.Array(Payment),
  receipt_id: Type.Union([Type.String(), Type.Null()]),
  locker_id: Type.Union([Type.String(), Type.Null()]),
  purchases: Type.Array(Type.Object({ intent: Type.String(), of: Goods, day: Type.String(), usd: Type.String() }), {
    description: 'Without `intent`: the purchases of the last 30 days.',
  }),
})

export const purchaseStatus = tool({
  name: 'purchase_status',
  title: 'Status of a purchase',
  description:
    'Shows what was paid for an `intent` and what is still missing; without one, the intents of the last 30 days. ' +
    'Pays nothing. Use it before buying again.',
  annotations: READS,
  input: Type.Object(
    {
      intent: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'As a paying tool returned it.' }),
      ),
    },
    STRICT,
  ),
  output: Status,
  run: async (context, { intent }, { signal }) =>
    intent === undefined ? list(context) : about(context, intent.trim(), signal),
})

const NOTHING = { of: null, payments: [], receipt_id: null, locker_id: null, purchases: [] }
const DAYS = 30

async function list(context: Context): Promise<Outcome<Static<typeof Status>>> {
  const { spending } = requireOwner(context)
  const days = Array.from({ length: DAYS }, (_, ago) => dayOf(context.now() - ago * 86_400_000))
  const perDay = await Promise.all(days.map(async (day) => ({ day, spent: await spending.on(day) })))
  const purchases = perDay.flatMap(({ day, spent }) =>
    spent.flatMap(({ seller, intent, micro_usd }) => {
      const of = goodsOf(context, seller)
      return of ? [{ intent, of, day, usd: dollarText(BigInt(micro_usd)) }] : []
    }),
  )
  const text = `${counted(purchases.length, 'purchase')} in the last ${DAYS} days. Give \`intent\` for one of them.`
  return { text, data: { ...NOTHING, intent: null, state: 'list', purchases } }
}

/** Null for a seller that is no longer configured. */
function goodsOf({ settings }: Context, seller: string): Static<typeof Goods> | null {
  if (seller === settings.gateway) return 'locker'
  return seller === settings.agent ? 'subscription' : null
}

async function about(context: Context, intent: string, signal: AbortSignal): Promise<Outcome<Static<typeof Status>>> {
  const { gateway, agent } = context.settings
  const locker = await readPurchase(context, gateway, intent)
  if (locker) return ofLocker(context, intent, locker, signal)
  const subscription = agent === null ? null : await readPurchase(context, agent, intent)
  if (subscription) return ofSubscription(context, intent, subscription)
  const text = 'This server has not started a purchase with that intent: nothing was paid for it.'
  return { text, data: { ...NOTHING, intent, state: 'unknown' } }
}

async function ofLocker(context: Context, intent: string, record: PurchaseRecord, signal: AbortSignal) {
  const payments = await paymentsOf(context, record)
  const receipt_id = record.receipt?.receipt_id ?? null
  const { extends: renewed } = record.receipt ?? {}
  if (receipt_id !== null && renewed !== undefined) {
    const of = 'locker' as const
    const { locker_id } = lockerOf(renewed)
    const text = `Paid: ${locker_id} is renewed. Nothing is missing.`
    return {
      text,
      data: { ...NOTHING, intent, of, state: 'complete' as const, payments, receipt_id: renewed, locker_id },
    }
  }
  const state = receipt_id === null ? stateOf(payments) : await lockerState(context, receipt_id, signal)
  const locker_id = receipt_id !== null && state === 'complete' ? lockerOf(receipt_id).locker_id : null
  const of = 'locker' as const
  return { text: NEXT[state], data: { ...NOTHING, intent, of, state, payments, receipt_id, locker_id } }
}

async function ofSubscription(context: Context, intent: string, record: PurchaseRecord) {
  const payments = await paymentsOf(context, record)
  const receipt_id = record.receipt?.receipt_id ?? null
  const state = receipt_id === null ? stateOf(payments) : 'complete'
  const text = state === 'complete' ? 'Paid. `agent_status` shows the end of the subscription.' : NEXT[state]
  const of = 'subscription' as const
  return { text, data: { ...NOTHING, intent, of, state, payments, receipt_id } }
}

const WORDS_OF_1_0 = { landed: 'landed', failed: 'failed', expired: 'impossible', pending: 'unknown' } as const

async function paymentsOf({ owner }: Context, { attempts, receipt }: PurchaseRecord) {
  return Promise.all(
    attempts.map(async ({ leg, payment }) => {
      // A receipt proves that the payment landed. Without an answer from the node the outcome stays pending.
      const isReceipted = receipt?.tx_hash.toLowerCase() === payment.tx.toLowerCase()
      const outcome: TransactionOutcome = isReceipted
        ? 'landed'
        : ((await owner?.wallet?.outcomeOf(payment).catch(() => null)) ?? 'pending')
      const { human_amount: amount, name: asset } = leg.extra
      return { tx: payment.tx, amount, asset, network: leg.network, outcome, fate: WORDS_OF_1_0[outcome] }
    }),
  )
}

function stateOf(payments: readonly Static<typeof Payment>[]): State {
  const outcomes = payments.map(({ outcome }) => outcome)
  if (outcomes.includes('landed')) return 'receipt_missing'
  return outcomes.includes('pending') ? 'payment_uncertain' : 'not_paid'
}

async function lockerState({ client }: Context, receiptId: string, signal: AbortSignal): Promise<State> {
  try {
    await client.metadata(lockerOf(receiptId), signal)
    return 'complete'
  } catch (error) {
    if (isGatewayError(error, 'locker_not_found')) return 'locker_missing'
    throw error
  }
}

const CONTINUE = 'Make the same call with the same intent and arguments: it continues, and pays nothing twice.'
const NEXT: Record<State, string> = {
  unknown: 'Nothing is known about it.',
  not_paid: 'Started, but nothing was paid: no payment was made that could still land.',
  payment_uncertain: `A payment was signed. It may have moved money, or may still do so. ${CONTINUE}`,
  receipt_missing: `Paid on chain, but the receipt is missing. ${CONTINUE}`,
  locker_missing: `Paid, and the receipt is here, but the locker is not open. ${CONTINUE}`,
  complete: 'Paid, and the locker is open. Nothing is missing.',
}
