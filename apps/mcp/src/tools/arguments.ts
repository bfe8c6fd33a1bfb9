// Arguments that several tools take.

import Type from 'typebox'

export const ReceiptId = Type.String({
  pattern: '^rcpt_[0-9a-f]{32}$',
  description: 'Receipt of the locker, as `buy` or `purchase_status` gave it: rcpt_ and 32 hex digits.',
})

export const Asset = Type.Optional(Type.String({ maxLength: 16, description: 'Ticker to pay with; USDC unless told.' }))

export const Intent = (example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: `Name of the purchase, for example "${example}". The same text never pays twice.`,
    }),
  )

/** Nothing beside what is declared: a misspelt argument must not pass for one that was left out. */
export const STRICT = { additionalProperties: false } as const

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true } as const

export const DelegationId = Type.String({
  pattern: '^dlg_[0-9a-f]{32}$',
  description: 'As `delegate` or `agent_status` gave it: dlg_ and 32 hex digits.',
})
