// Payments from a page in a browser, which has no node: the chain facts that a wallet needs, sending what it has
// signed, and the outcome. Anyone who knows a quote may call this, and only about that quote (T-66).

import type { Body } from '@svc/api/endpoint'
import { NETWORKS, type Network, ROLES } from '@svc/api/networks'
import type {
  FoundPayment,
  findPayment as findPaymentEndpoint,
  PaymentFacts,
  paymentOutcome as paymentOutcomeEndpoint,
  preparePayment as preparePaymentEndpoint,
  sendPayment as sendPaymentEndpoint,
} from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { canonicalTx, solanaPayReference } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { ChainUnavailable } from '../nodes/node-pool.ts'
import type { InspectedPayment, PayableLeg } from '../payer-node.ts'
import { type QuotedLeg, quotedLeg, readPayment, type Seller, type StoredQuote } from './confirm.ts'
import { chainUnreachable, paymentRefused, payReqNotFound, quoteExpired } from './errors.ts'

/** A service whose quotes are paid from a page. */
export interface PageSeller extends Seller<StoredQuote, { receipt: SignedReceipt }> {
  /** Throws when a quote is no longer sold. Payments for it stay valid. */
  requireForSale?(request: StoredQuote): Promise<void>
  /** The result of the service's own search for a payment; null when it has not searched recently. */
  findWatched?(payReqId: string): Promise<FoundPayment | null>
  /** By quote: the last transaction that `findPayment` has read of those that name the quote's reference. */
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
  const node = seller.sales.payerNode(leg.network)
  if (payer !== undefined && !node.isAddress(payer)) throw notAnAddress(leg.network)
  return orSilent(node.facts(leg, payer ?? null))
}

/** Sends the bytes each time a caller submits them: they can pay only once. */
export async function sendPayment(
  seller: PageSeller,
  { pay_req_id, transaction }: Body<typeof sendPaymentEndpoint>,
  wire: WireRequest,
): Promise<{ tx: string }> {
  const request = await findQuote(seller, pay_req_id, wire)
  const networks = networksOf(request, transaction.startsWith('0x') ? 'evm' : 'solana')
  const inspected = await Promise.all(
    networks.map(async (network) => {
      const node = seller.sales.payerNode(network)
      const legs = legsOf(request).filter((leg) => leg.network === network)
      return { node, found: await node.inspect(transaction, legs) }
    }),
  )
  const payments = inspected.flatMap(({ node, found }) => (found.outcome === 'payment' ? [{ node, found }] : []))
  const [payment] = payments
  if (!payment) throw notPayment(inspected.map(({ found }) => found))
  const { tx } = payment.found
  const bought = await seller.findBought(pay_req_id)
  if (bought?.receipt.tx_hash === tx) return { tx }
  if (bought) throw paymentRefused('quote_already_paid')
  requireTime(seller, request, 0)
  await seller.requireForSale?.(request)
  let refusal: string | null = null
  // A transaction of the Solana family does not name its network: all networks but its own reject it.
  for (const { node, found } of payments) {
    refusal = await orSilent(node.send(found))
    if (refusal === null) return { tx }
  }
  throw notSent('would_fail', refusal ?? '')
}

export async function paymentOutcome(
  seller: PageSeller,
  { pay_req_id, tx, payer, life }: Body<typeof paymentOutcomeEndpoint>,
  wire: WireRequest,
): Promise<{ outcome: TransactionOutcome }> {
  const request = await findQuote(seller, pay_req_id, wire)
  requireTime(seller, request, seller.config.payments.lateConfirmSeconds)
  const { sales } = seller
  const networks = networksOf(request, 'nonce' in life ? 'evm' : 'solana')
  const [network] = networks
  if (!sales.reader(network).isTransactionId(tx))
    throw new ValidationError({
      loc: ['body', 'tx'],
      msg: `must be a transaction of ${network.name}, the network that \`life\` is for`,
    })
  if (!sales.payerNode(network).isAddress(payer)) throw notAnAddress(network)
  const payment = { tx: canonicalTx(tx), payer, life }
  const outcomes = networks.map((one) => sales.payerNode(one).outcome(payment as never)) // its life is of their family
  return { outcome: outcomeAmong(await orSilent(Promise.all(outcomes))) }
}

/** A transaction is on one of the networks. It can no longer land once every network reports that. */
function outcomeAmong(outcomes: readonly TransactionOutcome[]): TransactionOutcome {
  if (outcomes.includes('landed')) return 'landed'
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.every((outcome) => outcome === 'expired') ? 'expired' : 'pending'
}

/** The networks of a family that a quote can be paid on; all of the family when the quote has no leg there. */
function networksOf(request: StoredQuote, family: Network['family']): [Network, ...Network[]] {
  const ofFamily = NETWORKS.filter((network) => network.family === family)
  const legs = legsOf(request)
  const quoted = ofFamily.filter((network) => legs.some((leg) => leg.network === network))
  return (quoted.length > 0 ? quoted : ofFamily) as [Network, ...Network[]] // each family has one
}

/**
 * How many transactions one call reads that name the quote's Solana Pay reference. Anyone who saw the QR code can
 * create more: the next call continues after them.
 */
const MAX_READ = 10

export async function findPayment(
  seller: PageSeller,
  { pay_req_id }: Body<typeof findPaymentEndpoint>,
  wire: WireRequest,
): Promise<FoundPayment> {
  const request = await findQuote(seller, pay_req_id, wire)
  requireTime(seller, request, seller.config.payments.lateConfirmSeconds)
  const legs = legsOf(request).filter(({ network }) => network === ROLES.solanaPay)
  if (legs.length === 0) return { payment: null }
  const watched = (await seller.findWatched?.(pay_req_id)) ?? null
  if (watched) return watched
  const node = seller.sales.payerNode(ROLES.solanaPay)
  const after = seller.passed.get(pay_req_id)
  const named = await orSilent(node.transactionsNaming(solanaPayReference(pay_req_id), after))
  let isPassing = true
  for (const tx of named.slice(0, MAX_READ)) {
    const leg = await paidLeg(seller, tx, request, legs)
    if (leg && leg !== 'undecided') return { payment: { tx, pay_network: leg.network.name, pay_asset: leg.ticker } }
    isPassing &&= leg === null
    if (isPassing) seller.passed.set(pay_req_id, tx)
  }
  return { payment: null }
}

/** The leg that a transaction pays; null for none, undecided while some nodes do not show it. */
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
  await seller.limitAnonymous(wire)
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

function notPayment(found: readonly InspectedPayment[]): ServiceError {
  const problems = found.flatMap((one) => (one.outcome === 'other' ? [one.problem] : []))
  if (problems.length > 0) return notSent('not_this_payment', [...new Set(problems)].join('; '))
  return new ServiceError('malformed_payment', 'this is not a transaction', {
    hint: 'send a signed transaction: base64 for the primary chain, 0x and hex for an EVM chain',
  })
}

function notSent(reason: 'not_this_payment' | 'would_fail', problem: string): ServiceError {
  return new ServiceError('payment_verification_failed', `the transaction was not sent: ${problem}`, {
    hint:
      reason === 'would_fail'
        ? 'request its outcome before you sign another one'
        : 'sign a transaction that pays one leg of the quote and does nothing else',
    details: { reason },
  })
}

async function orSilent<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof ChainUnavailable ? chainUnreachable() : error
  }
}
