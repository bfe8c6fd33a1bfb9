// The tables of the gateway. Times are ISO text; amounts are decimal text.

export interface Schema {
  signing_keys: SigningKeyTable
  pay_requests: PayRequestTable
  idempotency_keys: IdempotencyKeyTable
  payment_transactions: PaymentTransactionTable
  receipts: ReceiptTable
  owners: OwnerTable
  lockers: LockerTable
  x402_settlements: X402SettlementTable
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

interface IdempotencyKeyTable {
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
  /** Ticker. A row counts one asset; whatever else the transaction may have brought is not sold for. */
  asset: string
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
interface OwnerTable {
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

/** A payment that its payer only signed, noted before it is sent: whoever shows it again gets what it led to. */
export interface X402SettlementTable {
  /** A quote has one settlement at a time: two signatures for it are not two payments. */
  pay_req_id: string
  network: string
  /** What the leg is paid in: mint or contract. */
  asset: string
  /** Unique with its network: the authorization's payer and nonce, or the hash of the message that was signed. */
  payment_id: string
  tx: string
  /** The transaction as it is sent. */
  raw: string
  /** Where the chain stood when it was sent. */
  height: number
}
