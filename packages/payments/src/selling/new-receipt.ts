// The receipt of a payment.

import { isoSeconds } from '@svc/protocol/evidence'
import { receiptId } from '@svc/protocol/ids'
import type { Receipt } from '@svc/protocol/receipt'
import { displayAmount } from '../amounts.ts'
import type { ChainPayment } from '../payment.ts'
import type { QuotedLeg } from './confirm.ts'

export interface Paid {
  payReqId: string
  units: number
  leg: QuotedLeg
  payment: ChainPayment
  /** The id of the locker's chain of statements, if a locker is bought. */
  proofId?: string
  /** The receipt of the locker, if it is renewed. */
  extends?: string
  /** Unix seconds. */
  confirmedAt: number
}

/** Not signed yet. */
export function newReceipt(paid: Paid): Receipt {
  const { payReqId, units, leg, payment, proofId, confirmedAt } = paid
  const { network } = leg
  return {
    receipt_id: receiptId(payReqId, payment.tx),
    pay_req_id: payReqId,
    ...(proofId !== undefined && { proof_id: proofId }),
    ...(paid.extends !== undefined && { extends: paid.extends }),
    paid_amount: displayAmount(leg.amount, leg.decimals),
    paid_raw: String(leg.amount),
    received_raw: String(payment.received),
    pay_asset: leg.ticker,
    network: network.name,
    ...(network.family === 'evm' ? { block_number: payment.height } : { slot: payment.height }),
    sig_alg: network.sigAlg,
    tx_hash: payment.tx,
    payer_pubkey: network.family === 'evm' ? payment.payer.toLowerCase() : payment.payer,
    units,
    confirmed_at: isoSeconds(confirmedAt),
    result_hash: '',
  }
}
