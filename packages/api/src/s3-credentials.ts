// Credentials for S3 clients. Each gives access to one locker (a bucket in S3) or to all lockers that a wallet owns.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, RESTRICTION_ERRORS, SigningWallet, Timestamp, Words } from './wire.ts'

export const MAX_S3_KEYS = 100
export const MAX_S3_CREDENTIAL_MINUTES = 60
export const MAX_S3_KEY_DAYS = 365

const LockerPath = Type.Object({ locker_id: Type.String() })

const Access = Words(['read', 'write'])
const Prefix = Type.Optional(
  Type.String({
    maxLength: 512,
    description:
      'A folder, ending with `/`: only keys that begin with it are accessible. Without it, the whole locker is.',
  }),
)

const S3Endpoint = {
  endpoint: Type.String({ description: 'The endpoint URL for S3 clients.' }),
  region: Type.String(),
}

const Connection = { ...S3Endpoint, bucket: Type.String({ description: 'The locker id.' }) }

const Session = {
  access_key_id: Type.String(),
  secret_access_key: Type.String(),
  session_token: Type.String({ description: 'Must be sent with every request; S3 clients do this automatically.' }),
  access: Access,
  prefix: Type.String(),
  expires_at: Timestamp(),
}

export const S3Credentials = Type.Object({ ...Session, ...Connection }, { title: 'S3Credentials' })
export type S3Credentials = Static<typeof S3Credentials>

const { prefix: _, ...WalletSession } = Session

export const WalletS3Credentials = Type.Object({ ...WalletSession, ...S3Endpoint }, { title: 'WalletS3Credentials' })
export type WalletS3Credentials = Static<typeof WalletS3Credentials>

const KeyFacts = {
  access_key_id: Type.String(),
  name: Type.String(),
  access: Access,
  prefix: Type.String(),
  created_at: Timestamp(),
  expires_at: Timestamp(),
  last_used_at: OrNull(Timestamp('Accurate to the hour. Null for a key that was never used.')),
}

export const S3Key = Type.Object(KeyFacts, { title: 'S3Key' })
export type S3Key = Static<typeof S3Key>

const Secret = { secret_access_key: Type.String({ description: 'Shown only once.' }) }

export const NewS3Key = Type.Object({ ...KeyFacts, ...Secret, ...Connection }, { title: 'NewS3Key' })
export type NewS3Key = Static<typeof NewS3Key>

const { prefix: __, ...WalletKeyFacts } = KeyFacts

export const WalletS3Key = Type.Object(WalletKeyFacts, { title: 'WalletS3Key' })
export type WalletS3Key = Static<typeof WalletS3Key>

export const NewWalletS3Key = Type.Object({ ...WalletKeyFacts, ...Secret, ...S3Endpoint }, { title: 'NewWalletS3Key' })
export type NewWalletS3Key = Static<typeof NewWalletS3Key>

export const S3KeyList = Type.Object(
  { locker_id: Type.String(), keys: Type.Array(S3Key), count: Type.Integer() },
  { title: 'S3KeyList' },
)
export type S3KeyList = Static<typeof S3KeyList>

export const WalletS3KeyList = Type.Object(
  { wallet: Type.String(), keys: Type.Array(WalletS3Key), count: Type.Integer() },
  { title: 'WalletS3KeyList' },
)
export type WalletS3KeyList = Static<typeof WalletS3KeyList>

const CREDENTIAL_ERRORS = [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'] as const

const SessionOrder = {
  ttl_min: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_S3_CREDENTIAL_MINUTES,
      default: MAX_S3_CREDENTIAL_MINUTES,
      description: 'How many minutes the credentials are valid.',
    }),
  ),
  access: Type.Optional(
    Type.Enum(['read', 'write'], {
      default: 'read',
      description: '`write` includes reading, and requires an envelope with `locker:write`.',
    }),
  ),
}

const KeyName = Type.String({ minLength: 1, maxLength: 64, description: 'A label to tell keys apart.' })
const KeyDays = Type.Integer({ minimum: 1, maximum: MAX_S3_KEY_DAYS })

export const mintS3Credentials = endpoint({
  name: 'mintS3Credentials',
  method: 'POST',
  // The gateway stores nothing about them.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/s3/credentials',
  auth: { ops: [['locker:read', 'locker:write']] },
  summary: 'Create S3 credentials that expire within an hour, or when the key that requested them is removed',
  params: LockerPath,
  body: Type.Object({ ...SessionOrder, prefix: Prefix }),
  responses: { 200: S3Credentials },
  headers: NO_STORE,
  errors: [...CREDENTIAL_ERRORS, 'RATE_LIMITED', 'S3_DISABLED', ...RESTRICTION_ERRORS],
})

export const createS3Key = endpoint({
  name: 'createS3Key',
  method: 'POST',
  // Every call makes a new key.
  repeatable: false,
  path: '/v1/lockers/{locker_id}/s3/keys',
  auth: { ops: ['locker:admin'] },
  summary: 'Create a key for S3 clients that cannot request credentials themselves; its secret is shown once',
  params: LockerPath,
  body: Type.Object({
    name: KeyName,
    access: Access,
    prefix: Prefix,
    expires_in_days: KeyDays,
  }),
  responses: { 200: NewS3Key },
  headers: NO_STORE,
  errors: [
    ...CREDENTIAL_ERRORS,
    'OWNER_REQUIRED',
    'S3_KEY_LIMIT_EXCEEDED',
    'RATE_LIMITED',
    'S3_DISABLED',
    ...RESTRICTION_ERRORS,
  ],
})

export const listS3Keys = endpoint({
  name: 'listS3Keys',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/s3/keys',
  auth: { ops: ['locker:admin'] },
  summary: 'List the valid S3 keys of a locker, oldest first, without their secrets',
  params: LockerPath,
  responses: { 200: S3KeyList },
  headers: NO_STORE,
  errors: [...CREDENTIAL_ERRORS, 'OWNER_REQUIRED'],
})

export const revokeS3Key = endpoint({
  name: 'revokeS3Key',
  method: 'DELETE',
  path: '/v1/lockers/{locker_id}/s3/keys/{access_key_id}',
  auth: { ops: ['locker:admin'] },
  summary: 'Revoke an S3 key immediately',
  params: Type.Object({ locker_id: Type.String(), access_key_id: Type.String() }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      locker_id: Type.String(),
      access_key_id: Type.String(),
      revoked: Type.Literal(true),
    }),
  },
  headers: NO_STORE,
  errors: [...CREDENTIAL_ERRORS, 'OWNER_REQUIRED', 'S3_KEY_NOT_FOUND'],
})

const WalletQuery = Type.Object({ wallet: SigningWallet })
const WALLET_ERRORS = [...ENVELOPE_ERRORS, 'AUDIENCE_MISMATCH', 'validation_error', 'RATE_LIMITED'] as const

export const mintWalletS3Credentials = endpoint({
  name: 'mintWalletS3Credentials',
  method: 'POST',
  // The gateway stores nothing about them.
  repeatable: true,
  path: '/v1/s3/credentials',
  auth: { ops: [['locker:read', 'locker:write']] },
  summary:
    'Create S3 credentials for all lockers that the wallet owns, valid for up to an hour; the envelope has empty ids, and the base URL as `aud`',
  query: WalletQuery,
  body: Type.Object(SessionOrder),
  responses: { 200: WalletS3Credentials },
  headers: NO_STORE,
  errors: [...WALLET_ERRORS, 'locker_not_found', 'S3_DISABLED'],
})

export const createWalletS3Key = endpoint({
  name: 'createWalletS3Key',
  method: 'POST',
  // Every call makes a new key.
  repeatable: false,
  path: '/v1/s3/keys',
  auth: { ops: ['locker:admin'] },
  summary:
    'Create an S3 key for all lockers that the wallet owns, now and later; its secret is shown once. The envelope has empty ids, and the base URL as `aud`',
  query: WalletQuery,
  body: Type.Object({ name: KeyName, access: Access, expires_in_days: KeyDays }),
  responses: { 200: NewWalletS3Key },
  headers: NO_STORE,
  errors: [...WALLET_ERRORS, 'locker_not_found', 'S3_KEY_LIMIT_EXCEEDED', 'S3_DISABLED'],
})

export const listWalletS3Keys = endpoint({
  name: 'listWalletS3Keys',
  method: 'GET',
  path: '/v1/s3/keys',
  auth: { ops: ['locker:admin'] },
  summary:
    'List the valid S3 keys of a wallet, oldest first, without their secrets; keys of single lockers are not included',
  query: WalletQuery,
  responses: { 200: WalletS3KeyList },
  headers: NO_STORE,
  errors: WALLET_ERRORS,
})

export const revokeWalletS3Key = endpoint({
  name: 'revokeWalletS3Key',
  method: 'DELETE',
  path: '/v1/s3/keys/{access_key_id}',
  auth: { ops: ['locker:admin'] },
  summary: 'Revoke an S3 key of a wallet immediately, in all lockers',
  params: Type.Object({ access_key_id: Type.String() }),
  query: WalletQuery,
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      wallet: Type.String(),
      access_key_id: Type.String(),
      revoked: Type.Literal(true),
    }),
  },
  headers: NO_STORE,
  errors: [...WALLET_ERRORS, 'S3_KEY_NOT_FOUND'],
})
