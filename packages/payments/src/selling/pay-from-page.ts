// Paying from a page in a browser, which reaches no node: what a wallet has to know of the chain, sending what it has
// signed, and what became of it. Whoever knows a quote may ask, and only about that quote (T-66).

import type { Body } from '@svc/api/endpoint'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import type {
  FoundPayment,
  findPayment as findPaymentEndpoint,
  PaymentFacts,
  paymentOutcome as paymentOutcomeEndpoint,
  preparePayment as preparePaymentEndpoint,
  sendPayment as sendPaymentEndpoint,
} from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { canonicalTx, solanaPayReference } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { ChainUnavailable } from '../nodes/node-pool.ts'
import type { PayableLeg } from '../payer-node.ts'
import { type QuotedLeg, quotedLeg, readPayment, type Seller, type StoredQuote } from './confirm.ts'
import { chainSilent, paymentRefused, payReqNotFound, quoteExpired } from './errors.ts'

/** A service whose quotes are paid from a page. */
export interface PageSeller extends Seller<StoredQuote, { receipt: SignedReceipt }> {
  /** Throws where a quote is no longer sold. What was paid for it stays paid. */
  requireForSale?(request: StoredQuote): Promise<void>
  /** What the service knows of a payment that it looks for by itself; null where it has not looked lately. */
  findWatched?(payReqId: string): Promise<FoundPayment | null>
  /** Up to which transaction `findPayment` has read those that name the reference of a quote, by quote. */
  passed: { get(payReqId: string): string | undefined; set(payReqId: string, tx: string): void }
}

export async function preparePayment(
  seller: PageSeller,
  { pay_req_id, network, asset, payer }: Body<typeof preparePaymentEndpoint>,
  wire: WireRequest,
): Promise<PaymentFacts> {
  const request = await findQuote(seller, pay_req_id, wire)
  if ((await seller.findBought(pay_req_id)) !== null) throw paymentRefused('quote_already_paid')
  requireTime(seller, request, 0)
  await seller.requireForSale?.(request)
  const leg = legsOf(request).find((one) => one.network.caip2 === network && isSameAsset(one, asset))
  if (!leg) throw legNotInQuote(request, network, asset)
  const node = seller.sales.payerNodes[leg.network.family]
  if (payer !== undefined && !node.isAddress(payer)) throw notAnAddress(leg.network)
  return orSilent(node.facts(leg, payer ?? null))
}

/** Sends the same bytes as often as they come: they pay once. */
export async function sendPayment(
  seller: PageSeller,
  { pay_req_id, transaction }: Body<typeof sendPaymentEndpoint>,
  wire: WireRequest,
): Promise<{ tx: string }> {
  const request = await findQuote(seller, pay_req_id, wire)
  const network = transaction.startsWith('0x') ? EVM : PRIMARY
  const node = seller.sales.payerNodes[network.family]
  const legs = legsOf(request).filter((leg) => leg.network === network)
  const inspected = await node.inspect(transaction, legs)
  if (inspected.outcome === 'malformed')
    throw new ServiceError('malformed_payment', 'this is not a transaction', {
      hint: 'send base64 of a signed transaction of the primary chain, or 0x and hex of one of an EVM chain',
    })
  if (inspected.outcome === 'other') throw notSent('not_this_payment', inspected.problem)
  const { tx } = inspected
  const bought = await seller.findBought(pay_req_id)
  if (bought?.receipt.tx_hash === tx) return { tx }
  if (bought) throw paymentRefused('quote_already_paid')
  requireTime(seller, request, 0)
  await seller.requireForSale?.(request)
  const refusal = await orSilent(node.send(inspected))
  if (refusal !== null) throw notSent('would_fail', refusal)
  return { tx }
}

export async function paymentOutcome(
  seller: PageSeller,
  { pay_req_id, tx, payer, life }: Body<typeof paymentOutcomeEndpoint>,
  wire: WireRequest,
): Promise<{ outcome: TransactionOutcome }> {
  requireTime(seller, await findQuote(seller, pay_req_id, wire), seller.config.payments.lateConfirmSeconds)
  const { solana, evm } = seller.sales.payerNodes
  const isEvm = 'nonce' in life
  const network = isEvm ? EVM : PRIMARY
  if (!seller.sales.reader(network).isTransactionId(tx))
    throw new ValidationError({ loc: ['body', 'tx'], msg: `must be a transaction of ${network.name}, as life is` })
  if (!(isEvm ? evm : solana).isAddress(payer)) throw notAnAddress(network)
  const payment = { tx: canonicalTx(tx), payer }
  const outcome = isEvm ? evm.outcome({ ...payment, life }) : solana.outcome({ ...payment, life })
  return { outcome: await orSilent(outcome) }
}

/**
 * How many transactions a call reads that name the quote's Solana Pay reference. Anybody who saw the code can make some:
 * the next call goes on behind them.
 */
const MAX_READ = 10

export async function findPayment(
  seller: PageSeller,
  { pay_req_id }: Body<typeof findPaymentEndpoint>,
  wire: WireRequest,
): Promise<FoundPayment> {
  const request = await findQuote(seller, pay_req_id, wire)
  requireTime(seller, request, seller.config.payments.lateConfirmSeconds)
  const legs = legsOf(request).filter(({ network }) => network === PRIMARY)
  if (legs.length === 0) return { payment: null }
  const watched = (await seller.findWatched?.(pay_req_id)) ?? null
  if (watched) return watched
  const { solana } = seller.sales.payerNodes
  const after = seller.passed.get(pay_req_id)
  const named = await orSilent(solana.transactionsNaming(solanaPayReference(pay_req_id), after))
  let isPassing = true
  for (const tx of named.slice(0, MAX_READ)) {
    const leg = await paidLeg(seller, tx, request, legs)
    if (leg && leg !== 'undecided') return { payment: { tx, pay_network: leg.network.name, pay_asset: leg.ticker } }
    isPassing &&= leg === null
    if (isPassing) seller.passed.set(pay_req_id, tx)
  }
  return { payment: null }
}

/** Which leg a transaction pays; null for none, undecided while some nodes do not show it. */
async function paidLeg(
  seller: PageSeller,
  tx: string,
  request: StoredQuote,
  legs: readonly QuotedLeg[],
): Promise<QuotedLeg | 'undecided' | null> {
  try {
    for (const leg of legs) {
      const { outcome } = await readPayment(seller, tx, [{ request, leg }], [request.pay_req_id])
      if (outcome === 'found') return leg
    }
    return null
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'tx_not_found') return 'undecided'
    throw error
  }
}

async function findQuote(seller: PageSeller, payReqId: string, wire: WireRequest): Promise<StoredQuote> {
  await seller.limitStranger(wire)
  const request = await seller.findQuote(payReqId)
  if (!request) throw payReqNotFound()
  return request
}

function requireTime(seller: PageSeller, { expires_at }: StoredQuote, graceSeconds: number): void {
  const now = Math.floor(seller.now() / 1000)
  if (now > expires_at + graceSeconds) throw quoteExpired(expires_at, now)
}

function legsOf({ pay_req_id, quote }: StoredQuote): (QuotedLeg & PayableLeg)[] {
  const { accepts } = JSON.parse(quote) as { accepts: PaymentLeg[] }
  return accepts.map((leg) => ({ ...quotedLeg(leg), payReqId: pay_req_id }))
}

function isSameAsset({ network, asset }: QuotedLeg, named: string): boolean {
  return network.family === 'evm' ? asset.toLowerCase() === named.toLowerCase() : asset === named
}

function legNotInQuote(request: StoredQuote, network: string, asset: string): ServiceError {
  const legs = legsOf(request).map((leg) => `${leg.asset} on ${leg.network.caip2}`)
  return new ServiceError('leg_not_in_quote', `${asset} on ${network} not in quote`, {
    hint: `the quote can be paid with ${legs.join(', ')}`,
  })
}

function notAnAddress({ name }: Network): ValidationError {
  return new ValidationError({ loc: ['body', 'payer'], msg: `must be an address of ${name}` })
}

function notSent(reason: 'not_this_payment' | 'would_fail', problem: string): ServiceError {
  return new ServiceError('payment_verification_failed', `the transaction was not sent: ${problem}`, {
    hint:
      reason === 'would_fail'
        ? 'ask for its outcome before you sign another one'
        : 'sign a transaction that pays one leg of the quote and does nothing else',
    details: { reason },
  })
}

async function orSilent<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof ChainUnavailable ? chainSilent() : error
  }
}
