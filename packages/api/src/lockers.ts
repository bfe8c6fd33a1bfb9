// Lockers: opening one with a receipt, reading it, and managing its operators and links.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { DownloadUrls, FileEntry, TtlMinutes } from './file-entries.ts'
import { NAME_TAG } from './locker-names.ts'
import { Terms } from './purchases.ts'
import {
  ENVELOPE_ERRORS,
  NO_STORE,
  OrNull,
  Page,
  Provider,
  RESTRICTION_ERRORS,
  SigningWallet,
  Timestamp,
  Words,
} from './wire.ts'

export const MAX_TAGS = 32
export const MAX_TAG_CHARACTERS = 64

export const Tags = Type.Array(Type.String({ maxLength: MAX_TAG_CHARACTERS }), {
  maxItems: MAX_TAGS,
  default: [],
  description: 'Words to find the locker by. They are set when the locker is opened; only names can be changed.',
})

/** Fits the maximum number of tags at their maximum length. */
export const TAGGED_BODY_BYTES = 16_384

const Space = Type.Object(
  {
    locker_id: Type.String(),
    file_api: Type.Object({
      create: Type.String(),
      list: Type.String(),
      get: Type.String(),
      delete: Type.String(),
    }),
  },
  { title: 'Space' },
)

const PublicLink = Type.Object(
  {
    status: Words(['open', 'closed']),
    id: OrNull(Type.String({ description: 'The part of the path after /v1/r/. Null while the link is closed.' })),
  },
  { title: 'PublicLink', description: 'The public link, by which anyone can read the files.' },
)
export type PublicLink = Static<typeof PublicLink>

const Anchoring = Words(['each', 'log'])
export type Anchoring = Static<typeof Anchoring>

const LockerRestriction = Type.Object(
  {
    state: Words(['frozen', 'taken_down']),
    since: Timestamp(),
    notice: OrNull(Type.String({ description: "The message of the gateway's admin to the owner." })),
  },
  {
    title: 'LockerRestriction',
    description:
      "Set by the gateway's admin. `frozen`: files can be read, but nothing can be written or newly shared. `taken_down`: files cannot be read either. Statements and proofs remain available.",
  },
)
export type LockerRestriction = Static<typeof LockerRestriction>

const LockerFacts = {
  locker_id: Type.String({ pattern: '^locker_[0-9a-f]{12}$' }),
  receipt_id: Type.String(),
  owner: Type.String({ description: 'Who paid.' }),
  operators: Type.Array(Type.String(), { description: 'Ed25519 keys in base58 that may read, write and list files.' }),
  tags: Type.Array(Type.String()),
  provider: Provider,
  network: Type.String(),
  sig_alg: Words(['ed25519', 'secp256k1']),
  terms: Terms,
  created_at: Timestamp(),
  expires_at: Timestamp('The end of the paid term. Nothing is deleted automatically.'),
  file_count: Type.Integer(),
  total_bytes: Type.Integer({ description: 'The size of all confirmed files.' }),
  public_link: Type.Optional(PublicLink),
  anchoring: Type.Optional(Anchoring),
  restriction: Type.Optional(LockerRestriction),
  settling: Type.Optional(
    OrNull(
      Type.Object(
        {
          files: Type.Integer(),
          bytes: Type.Integer(),
          oldest_since: Timestamp(),
          held_back: Type.Optional(
            Type.Object(
              { files: Type.Integer(), bytes: Type.Integer() },
              {
                description:
                  'Confirmed files beyond `settled_limit_bytes` of the terms. They can be read, and remain at the gateway.',
              },
            ),
          ),
        },
        {
          description:
            'Confirmed files that are still on their way to a slow provider. They can be read. Null if there are none; absent from the answer to a purchase.',
        },
      ),
    ),
  ),
}

export const LockerRecord = Type.Object({ ...LockerFacts, space: Space }, { title: 'LockerRecord' })
export type LockerRecord = Static<typeof LockerRecord>

export const LockerMetadata = Type.Object(
  {
    ...LockerFacts,
    attestation: OrNull(
      Type.Object({
        status: Words(['pending', 'computed', 'pushing', 'complete']),
        evidence_seq: OrNull(
          Type.Integer({ description: 'Null before the first statement, like the fields that follow.' }),
        ),
        attested_at: OrNull(Timestamp()),
        proof_id: OrNull(Type.String()),
      }),
    ),
    last_manifest_change_at: OrNull(Timestamp()),
  },
  { title: 'LockerMetadata' },
)
export type LockerMetadata = Static<typeof LockerMetadata>

export const ProvisionManifest = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    already_provisioned: Type.Boolean(),
    space: Space,
    owner: Type.String(),
    operators: Type.Array(Type.String()),
    tags: Type.Array(Type.String()),
    provider: Provider,
    terms: Terms,
    files: Type.Array(FileEntry, { description: 'Only the first files if there are very many.' }),
    created_at: Timestamp(),
    expires_at: Timestamp(),
  },
  { title: 'ProvisionManifest' },
)
export type ProvisionManifest = Static<typeof ProvisionManifest>

/** The operation checks whether this is a valid Ed25519 public key. */
const OperatorKey = Type.String({
  minLength: 32,
  maxLength: 44,
  pattern: '^[1-9A-HJ-NP-Za-km-z]+$',
  description: 'Ed25519 public key, base58.',
})

const ProvisionRequest = Type.Object({
  receipt_id: Type.String(),
  tags: Type.Optional(Tags),
  operator_pubkey: Type.Optional(OperatorKey),
})

const LockerPath = Type.Object({ locker_id: Type.String() })
const LOCKER_ERRORS = [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'] as const
const PROVISION_ERRORS = [
  ...ENVELOPE_ERRORS,
  'receipt_not_found',
  'OWNER_REQUIRED',
  'LOCKER_LIMIT_EXCEEDED',
  'LOCKER_ID_COLLISION',
  'receipt_is_renewal',
  'OPERATOR_LIMIT_EXCEEDED',
  'validation_error',
  ...RESTRICTION_ERRORS,
] as const

export const signedProvision = endpoint({
  name: 'signedProvision',
  method: 'POST',
  // A repeated call finds the open locker.
  repeatable: true,
  path: '/v1/storage/signed_provision',
  auth: { ops: ['locker:provision'] },
  summary: 'Open the locker of a receipt, or return it if it is open',
  maxBodyBytes: TAGGED_BODY_BYTES,
  body: ProvisionRequest,
  responses: { 200: ProvisionManifest },
  headers: NO_STORE,
  errors: PROVISION_ERRORS,
})

export const provision = endpoint({
  ...signedProvision,
  name: 'provision',
  path: '/v1/storage/provision',
  auth: { ops: ['locker:provision'], optional: true },
  summary: 'The same as signed_provision; a development gateway can be configured to accept it unsigned',
})

export const ListedLocker = Type.Object(
  {
    receipt_id: LockerFacts.receipt_id,
    locker_id: LockerFacts.locker_id,
    role: Words(['owner', 'operator']),
    opened: Type.Boolean({
      description:
        'False if the locker of this payment has not been opened: POST /v1/storage/signed_provision opens it.',
    }),
    owner: LockerFacts.owner,
    provider: Provider,
    network: Type.String(),
    tags: LockerFacts.tags,
    paid_at: Timestamp(),
    created_at: OrNull(Timestamp('When the locker was opened. Null if it was not, like the next field.')),
    expires_at: OrNull(LockerFacts.expires_at),
    file_count: LockerFacts.file_count,
    total_bytes: LockerFacts.total_bytes,
    terms: Type.Optional(OrNull(Terms)),
  },
  { title: 'ListedLocker' },
)
export type ListedLocker = Static<typeof ListedLocker>

export const LockerList = Type.Object(
  {
    wallet: Type.String(),
    lockers: Type.Array(ListedLocker),
    count: Type.Integer(),
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'LockerList' },
)
export type LockerList = Static<typeof LockerList>

export const listLockers = endpoint({
  name: 'listLockers',
  method: 'GET',
  path: '/v1/lockers',
  auth: { ops: ['locker:list'] },
  summary:
    'List the lockers that a wallet owns or operates, newest payment first; the envelope has empty ids, and the base URL as `aud`',
  query: Type.Object({
    wallet: SigningWallet,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: 'The maximum number of entries in a page.',
      }),
    ),
    cursor: Page.cursor,
  }),
  responses: { 200: LockerList },
  headers: NO_STORE,
  errors: [...ENVELOPE_ERRORS, 'AUDIENCE_MISMATCH', 'validation_error', 'RATE_LIMITED'],
})

const { locker_id: _, ...UrlFields } = DownloadUrls.properties

export const RefreshedLocker = Type.Object(
  { ...LockerRecord.properties, ...Type.Partial(Type.Object(UrlFields)).properties },
  { title: 'RefreshedLocker' },
)
export type RefreshedLocker = Static<typeof RefreshedLocker>

export const refresh = endpoint({
  name: 'refresh',
  method: 'POST',
  // A repeated call sets the same values.
  repeatable: true,
  path: '/v1/storage/refresh',
  auth: { ops: ['locker:refresh'] },
  summary: 'The record of a locker with the paths of its files; with ttl_min, also download URLs for them',
  body: Type.Object({
    receipt_id: Type.Optional(Type.String()),
    locker_id: Type.Optional(Type.String()),
    ttl_min: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1440, description: 'Requests URLs that are valid for this many minutes.' }),
    ),
  }),
  responses: { 200: RefreshedLocker },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', 'RATE_LIMITED', 'LOCKER_TAKEN_DOWN'],
})

export const lockerMetadata = endpoint({
  name: 'lockerMetadata',
  method: 'GET',
  path: '/v1/storage/metadata/{locker_id}',
  auth: { ops: ['locker:read'] },
  summary: 'The properties of a locker and the status of its attestation',
  params: LockerPath,
  responses: { 200: LockerMetadata },
  headers: NO_STORE,
  errors: LOCKER_ERRORS,
})

export const lockerRecord = endpoint({
  name: 'lockerRecord',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/record',
  auth: { ops: [['locker:read', 'locker:list']] },
  summary: 'The record of a locker',
  params: LockerPath,
  responses: { 200: LockerRecord },
  headers: NO_STORE,
  errors: LOCKER_ERRORS,
})

export const lockerUrls = endpoint({
  name: 'lockerUrls',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/urls',
  auth: { ops: [['locker:read', 'locker:list']] },
  summary: 'Get a download URL for each file that has bytes',
  params: LockerPath,
  query: Type.Object({ ttl_min: Type.Optional(TtlMinutes), ...Page }),
  responses: { 200: DownloadUrls },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'RATE_LIMITED', ...RESTRICTION_ERRORS],
})

export const addOperator = endpoint({
  name: 'addOperator',
  method: 'POST',
  // A key that is already registered stays registered.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/operators',
  auth: { ops: ['locker:admin'] },
  summary: 'Let a key act for the owner: read, write and list files',
  params: LockerPath,
  body: Type.Object({ pubkey: OperatorKey }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      locker_id: Type.String(),
      pubkey: Type.String(),
      operators: Type.Array(Type.String()),
      added: Type.Boolean({ description: 'False if the key was already registered.' }),
    }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', 'OPERATOR_LIMIT_EXCEEDED', ...RESTRICTION_ERRORS],
})

export const removeOperator = endpoint({
  name: 'removeOperator',
  method: 'DELETE',
  path: '/v1/lockers/{locker_id}/operators/{pubkey}',
  auth: { ops: ['locker:admin'] },
  summary: 'Remove an operator immediately, with the URLs, shares and upload sessions that its key requested',
  params: Type.Object({ locker_id: Type.String(), pubkey: Type.String() }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      locker_id: Type.String(),
      pubkey: Type.String(),
      operators: Type.Array(Type.String()),
      removed: Type.Literal(true),
    }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', 'OPERATOR_NOT_FOUND'],
})

export const revokeAccess = endpoint({
  name: 'revokeAccess',
  method: 'POST',
  // What is revoked stays revoked.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/revoke',
  auth: { ops: ['locker:admin'] },
  summary: 'End all URLs, shares and upload sessions of a locker, no matter who requested them',
  params: LockerPath,
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), revoked: Type.Literal(true) }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED'],
})

export const changePublicLink = endpoint({
  name: 'changePublicLink',
  method: 'POST',
  // A link that is rotated twice has the newest id.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/public-link',
  auth: { ops: ['locker:admin'] },
  summary: 'Rotate the id of the public link, close the link, or open it again',
  params: LockerPath,
  body: Type.Object(
    { action: Words(['rotate', 'close', 'open']) },
    {
      description:
        '`rotate`: the link gets a new id, and the previous id stops working permanently. `open`: a closed link works again with the id that it had.',
    },
  ),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), public_link: PublicLink }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', ...RESTRICTION_ERRORS],
})

export const renameLocker = endpoint({
  name: 'renameLocker',
  method: 'POST',
  // A repeated call sets the same name.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/name',
  auth: { ops: ['locker:admin'] },
  summary: 'Name a locker or one of its operators, or remove the name',
  params: LockerPath,
  body: Type.Object({
    name: OrNull(
      Type.String({
        minLength: 1,
        maxLength: MAX_TAG_CHARACTERS - NAME_TAG.length,
        description:
          'It replaces the tag that begins with `name:`, or with `operator:`, the key and a space. Owner and operators see it. Null removes it.',
      }),
    ),
    operator: Type.Optional(Type.String({ maxLength: 44, description: 'Names this operator instead of the locker.' })),
  }),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), tags: LockerFacts.tags }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', 'OPERATOR_NOT_FOUND'],
})

export const changeAnchoring = endpoint({
  name: 'changeAnchoring',
  method: 'POST',
  // A repeated call sets the same value.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/anchoring',
  auth: { ops: ['locker:admin'] },
  summary: 'Publish each statement of a locker separately, or only through the transparency log',
  params: LockerPath,
  body: Type.Object(
    { anchoring: Anchoring },
    {
      description:
        '`each`: every statement is published separately, as the gateway is configured. `log`: statements are on chain only through the anchored checkpoints of the log; POST /v1/attest/push still publishes one separately.',
    },
  ),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), anchoring: Anchoring }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED'],
})
