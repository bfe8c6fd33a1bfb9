// Receipts: reading them, and verifying their signature and payment.

import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { Hex, NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

export const Receipt = Type.Object(
  {
    receipt_id: Type.String(),
    pay_req_id: Type.String(),
    proof_id: Type.Optional(Hex(16)),
    extends: Type.Optional(Type.String({ description: 'For a renewal: the receipt of the locker that it extends.' })),
    paid_amount: Type.String({ description: 'The amount in display units.' }),
    paid_raw: Type.String({ description: 'The amount in atomic units.' }),
    received_raw: Type.Optional(Type.String()),
    pay_asset: Type.String(),
    network: Type.String(),
    slot: Type.Optional(Type.Integer()),
    block_number: Type.Optional(Type.Integer()),
    sig_alg: Words(['ed25519', 'secp256k1']),
    tx_hash: Type.String(),
    payer_pubkey: Type.String(),
    units: Type.Integer(),
    confirmed_at: Timestamp(),
    result_hash: Type.String(),
    receipt_sig: Hex(64),
    receipt_signer_pubkey: Hex(32),
  },
  { title: 'Receipt' },
)

const ReceiptPath = Type.Object({ receipt_id: Type.String() })

export const readReceipt = endpoint({
  name: 'readReceipt',
  method: 'GET',
  path: '/v1/receipts/{receipt_id}',
  auth: 'public',
  summary: 'Get a receipt, signed by the gateway',
  head: true,
  params: ReceiptPath,
  responses: { 200: Receipt },
  headers: NO_STORE,
  errors: ['receipt_not_found'],
})

export const verifyReceipt = endpoint({
  name: 'verifyReceipt',
  method: 'GET',
  path: '/v1/receipts/{receipt_id}/verify',
  auth: 'public',
  summary: "Whether a receipt's id is valid, and its signature was made with a key that was valid then",
  params: ReceiptPath,
  responses: {
    200: Type.Object({
      receipt_id: Type.String(),
      valid: Type.Boolean(),
      checks: Type.Object({
        receipt_exists: Type.Boolean(),
        signature_valid: Type.Boolean(),
        receipt_id_matches: Type.Boolean(),
      }),
      signer_pubkey: Hex(32),
      key_id: Type.String(),
      signed_message_hex: Type.String(),
      receipt: Receipt,
    }),
  },
  headers: NO_STORE,
  errors: ['receipt_not_found'],
})

export const PaymentMatches = Type.Object({
  treasury_balance_rose: Type.Boolean(),
  amount_sufficient: Type.Boolean(),
  payer_matches: Type.Boolean(),
  slot_matches: Type.Optional(Type.Boolean({ description: 'On the primary chain only.' })),
})

const Height = { slot: Type.Optional(Type.Integer()), block_number: Type.Optional(Type.Integer()) }

export const verifyPayment = endpoint({
  name: 'verifyPayment',
  method: 'GET',
  path: '/v1/receipts/{receipt_id}/verify-payment',
  auth: 'public',
  summary: 'Whether the receipt still matches the chain',
  params: ReceiptPath,
  responses: {
    200: Type.Object({
      receipt_id: Type.String(),
      network: Type.String(),
      tx_hash: Type.String(),
      verified: Type.Boolean(),
      matches: PaymentMatches,
      on_chain: Type.Object({
        received_raw: Type.String(),
        payer: OrNull(Type.String()),
        ...Height,
        block_time: OrNull(Type.Integer()),
      }),
      receipt: Type.Object({ paid_raw: Type.String(), payer_pubkey: Type.String(), ...Height }),
      checked_at: Timestamp(),
    }),
  },
  headers: NO_STORE,
  errors: ['receipt_not_found', 'receipt_has_no_tx_hash', 'tx_not_found_on_chain', 'chain_unavailable', 'RATE_LIMITED'],
})
