// The tables of the gateway. Times are ISO text; amounts are decimal text.

export interface Schema {
  signing_keys: SigningKeyTable
}

/** Every key that has signed receipts and statements; retired ones stay, so that what they signed stays checkable. */
export interface SigningKeyTable {
  public_key_hex: string
  valid_from: string
  valid_to: string | null
}
