import { networkNamed } from '@svc/api/networks'
import type { Quote } from '@svc/api/purchases'
import type { ChainReading } from '@svc/payments/payment'
import { paidLeg, type QuotedLeg } from '@svc/payments/selling/confirm'
import { chainUnavailable } from '@svc/payments/selling/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { limitAnonymous } from '../auth/limits.ts'
import { type Context, unixNow } from '../context.ts'
import { readReceipt } from './receipts.ts'
import { findAuthorizations, findPayRequest } from './store.ts'

/** Reads the transaction again and compares the receipt with it, field by field. */
export async function verifyPayment(context: Context, receiptId: string, wire: WireRequest) {
  await limitAnonymous(context, wire, receiptId)
  const receipt = await readReceipt(context, receiptId)
  if (!receipt.tx_hash) {
    throw new ServiceError('receipt_has_no_tx_hash', 'this receipt names no transaction', {
      hint: 'only receipts of on-chain payments can be verified',
    })
  }
  const leg = await legOf(context, receipt)
  const reading = await rereadPayment(context, receipt, leg)
  if (reading.outcome === 'unavailable') throw chainUnavailable()
  if (reading.outcome === 'not_found')
    throw new ServiceError('tx_not_found_on_chain', 'the chain does not show the transaction of this receipt')
  const matches = compare(reading, receipt, leg)
  return {
    receipt_id: receipt.receipt_id,
    network: receipt.network,
    tx_hash: receipt.tx_hash,
    verified: Object.values(matches).every(Boolean),
    matches,
    on_chain: onChain(reading, leg),
    receipt: { paid_raw: receipt.paid_raw, payer_pubkey: receipt.payer_pubkey, ...height(receipt) },
    checked_at: isoSeconds(unixNow(context)),
  }
}

/**
 * The destination comes from the quote, because the treasury may have changed since. The quote may have been deleted.
 */
async function legOf(context: Context, receipt: SignedReceipt): Promise<QuotedLeg> {
  const { pay_req_id, network: pay_network, pay_asset } = receipt
  const network = networkNamed(pay_network)
  const request = network && (await findPayRequest(context.database.db, pay_req_id))
  if (request) {
    const { accepts } = JSON.parse(request.quote) as Partial<Quote>
    // The quote of an imported receipt is unknown, and so is the destination of its payment.
    if (!accepts) throw chainUnavailable()
    return paidLeg(accepts, { pay_network, pay_asset })
  }
  const treasury = context.sales.treasuries.find((one) => one.network === network)
  const leg = treasury?.legs.find(({ of }) => of.ticker === pay_asset)
  if (!network || !leg) throw chainUnavailable()
  return { network, ticker: pay_asset, decimals: leg.of.decimals, asset: leg.asset, payTo: leg.payTo, amount: 0n }
}

/**
 * Reads the authorization that was signed for the quote, if there is one: others may have paid in the same transaction.
 */
async function rereadPayment(context: Context, receipt: SignedReceipt, leg: QuotedLeg): Promise<ChainReading> {
  const reader = context.sales.reader(leg.network)
  for (const authorization of await findAuthorizations(context.database.db, receipt.pay_req_id)) {
    const reading = await reader.read(receipt.tx_hash, { ...leg, authorization })
    if (reading.outcome !== 'rejected') return reading
  }
  return reader.read(receipt.tx_hash, leg)
}

function compare(reading: KnownReading, receipt: SignedReceipt, { network }: QuotedLeg) {
  const found = reading.outcome === 'found' ? reading : null
  const payer = network.family === 'evm' ? found?.payer.toLowerCase() : found?.payer
  return {
    treasury_balance_rose: (found?.received ?? 0n) > 0n,
    amount_sufficient: (found?.received ?? 0n) >= BigInt(receipt.paid_raw),
    payer_matches: payer === receipt.payer_pubkey,
    ...(network.family === 'solana' && { slot_matches: found?.height === receipt.slot }),
  }
}

type KnownReading = Extract<ChainReading, { outcome: 'found' | 'rejected' }>

function onChain(reading: KnownReading, { network }: QuotedLeg) {
  if (reading.outcome === 'rejected') return { received_raw: '0', payer: null, block_time: null }
  return {
    received_raw: String(reading.received),
    payer: reading.payer,
    ...(network.family === 'evm' ? { block_number: reading.height } : { slot: reading.height }),
    block_time: reading.blockTime,
  }
}

function height({ slot, block_number }: SignedReceipt) {
  return { ...(slot !== undefined && { slot }), ...(block_number !== undefined && { block_number }) }
}
