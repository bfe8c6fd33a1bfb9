// The tables of the gateway. Times are ISO text; amounts are decimal text.

export interface Schema {
  signing_keys: SigningKeyTable
  pay_requests: PayRequestTable
  idempotency_keys: IdempotencyKeyTable
  payment_transactions: PaymentTransactionTable
  receipts: ReceiptTable
  owners: OwnerTable
  lockers: LockerTable
}

/** Every key that has signed receipts and statements; retired ones stay, so that what they signed stays checkable. */
export interface SigningKeyTable {
  public_key_hex: string
  valid_from: string
  valid_to: string | null
}

/** A quote, kept for ever: it fixes what a payment must be. */
export interface PayRequestTable {
  pay_req_id: string
  /** Unix seconds. */
  created_at: number
  expires_at: number
  provider: string
  units: number
  /** The whole body of the 402, as it was answered. */
  quote: string
}

export interface IdempotencyKeyTable {
  idempotency_key: string
  /** SHA-256 of the canonical body the key came with. */
  body_sha256: string
  pay_req_id: string
  /** Unix seconds. */
  created_at: number
}

/** One row for each transaction that paid something. A plain purchase takes it whole; a batch shares it out. */
export interface PaymentTransactionTable {
  network: string
  tx: string
  kind: 'single' | 'batch'
  payer: string
  /** Atomic units that arrived, and how much of them receipts account for; decimal text. */
  received: string
  bound: string
}

export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  payer: string
  /** The signed receipt, as it is answered. */
  receipt: string
}

/** Counts lockers, so that the cap of an owner is one conditional update. */
export interface OwnerTable {
  owner: string
  locker_count: number
}

export interface LockerTable {
  locker_id: string
  receipt_id: string
  owner: string
  network: string
  provider: string
  /** JSON. */
  tags: string
  terms: string
  created_at: string
  expires_at: string
}
