// Arguments that several tools take.

import Type from 'typebox'

export const ReceiptId = Type.String({
  pattern: '^rcpt_[0-9a-f]{32}$',
  description: 'Receipt of the locker, as `buy` or `purchase_status` gave it: rcpt_ and 32 hex digits.',
})

/** Nothing beside what is declared: a misspelt argument must not pass for one that was left out. */
export const STRICT = { additionalProperties: false } as const

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true } as const
