// Schemas that many bodies share.

import Type, { type TSchema } from 'typebox'
import { PROVIDERS } from './providers.ts'

export const Hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${bytes * 2}}$` })
export const Timestamp = (description?: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$',
    ...(description && { description }),
  })
export const Sha256 = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
/** One of several fixed words. */
export const Words = <const W extends string[]>(words: readonly [...W]) => Type.Enum<W>(words)
export const Provider = Words(PROVIDERS)
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The query of a list that can be long. Without `limit` the answer has all entries. */
export const Page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'The maximum number of entries in a page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1024,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'The `next_cursor` of the previous page.',
    }),
  ),
}

/** Part of the query of requests that are about a wallet, not a locker. */
export const SigningWallet = Type.String({
  pattern: '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$',
  description: 'The wallet that signed: an Ed25519 public key in base58, or an EVM address.',
})

/** For answers that depend on the caller or the moment. */
export const NO_STORE = { 'cache-control': 'no-store' }

/** Errors of endpoints that write to a locker or give new access to it. */
export const RESTRICTION_ERRORS = ['LOCKER_FROZEN', 'LOCKER_TAKEN_DOWN'] as const

/** Errors of all endpoints with a signed envelope. */
export const ENVELOPE_ERRORS = [
  'MISSING_ENVELOPE',
  'SIGNATURE_INVALID',
  'LOCKER_ID_MISMATCH',
  'RECEIPT_ID_MISMATCH',
  'EXPIRED_ENVELOPE',
  'ENVELOPE_NOT_YET_VALID',
  'ENVELOPE_LIFETIME_INVALID',
  'METHOD_MISMATCH',
  'PATH_MISMATCH',
  'BODY_HASH_MISMATCH',
  'MISSING_OPS',
  'NONCE_REPLAYED',
  'database_behind',
] as const
