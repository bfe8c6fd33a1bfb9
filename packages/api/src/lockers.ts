// Lockers: opening one with a receipt, reading it, and who may act for its owner.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { DownloadUrls, FileEntry, TtlMinutes } from './file-entries.ts'
import { Provider } from './providers.ts'
import { Terms } from './purchases.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Page, RESTRICTION_ERRORS, SigningWallet, Timestamp, Words } from './wire.ts'

export const MAX_TAGS = 32
export const MAX_TAG_CHARACTERS = 64

export const Tags = Type.Array(Type.String({ maxLength: MAX_TAG_CHARACTERS }), {
  maxItems: MAX_TAGS,
  default: [],
  description: 'Words to find the locker by; what it was created with stays.',
})

/** Room for the longest tags. */
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
    id: OrNull(Type.String({ description: 'What stands in the path after /v1/r/. Null while the link is closed.' })),
  },
  { title: 'PublicLink', description: 'By what anybody can read the files.' },
)
export type PublicLink = Static<typeof PublicLink>

const Anchoring = Words(['each', 'log'])
export type Anchoring = Static<typeof Anchoring>

const LockerRestriction = Type.Object(
  {
    state: Words(['frozen', 'taken_down']),
    since: Timestamp(),
    notice: OrNull(Type.String({ description: 'What the operator of the gateway says about it.' })),
  },
  {
    title: 'LockerRestriction',
    description:
      'Set by the operator of the gateway. `frozen`: files can be read, and nothing can be written or newly shared. `taken_down`: files cannot be read either. Statements and proofs stay.',
  },
)
export type LockerRestriction = Static<typeof LockerRestriction>

const LockerFacts = {
  locker_id: Type.String({ pattern: '^locker_[0-9a-f]{12}$' }),
  receipt_id: Type.String(),
  owner: Type.String({ description: 'Who paid.' }),
  operators: Type.Array(Type.String(), { description: 'Ed25519 keys, base58, that may read, write and list.' }),
  tags: Type.Array(Type.String()),
  provider: Provider,
  network: Type.String(),
  sig_alg: Words(['ed25519', 'secp256k1']),
  terms: Terms,
  created_at: Timestamp(),
  expires_at: Timestamp('Until when the terms were paid for; nothing is deleted automatically.'),
  file_count: Type.Integer(),
  total_bytes: Type.Integer({ description: 'Of confirmed files.' }),
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
                  'Confirmed files beyond `settled_limit_bytes` of the terms: they can be read, and stay with the gateway.',
              },
            ),
          ),
        },
        {
          description:
            'Confirmed files that are on their way to a provider which takes its time; they can be read. Null when there are none; left out of the answer to a purchase.',
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
        evidence_seq: OrNull(Type.Integer({ description: 'Null, as all that follows, before the first statement.' })),
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
    files: Type.Array(FileEntry, { description: 'Only the first of them when there are very many.' }),
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
  // An open locker is found.
  repeatable: true,
  path: '/v1/storage/signed_provision',
  auth: { ops: ['locker:provision'] },
  summary: 'Open the locker of a receipt, or find it open',
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
  summary: 'As signed_provision; a development gateway may be set to take it unsigned',
})

export const ListedLocker = Type.Object(
  {
    receipt_id: LockerFacts.receipt_id,
    locker_id: LockerFacts.locker_id,
    role: Words(['owner', 'operator']),
    opened: Type.Boolean({
      description: 'False for a payment whose locker was never opened: POST /v1/storage/signed_provision opens it.',
    }),
    owner: LockerFacts.owner,
    provider: Provider,
    network: Type.String(),
    tags: LockerFacts.tags,
    paid_at: Timestamp(),
    created_at: OrNull(Timestamp('When the locker was opened; null, as the next, where it was not.')),
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
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins; absent on the last.' })),
  },
  { title: 'LockerList' },
)
export type LockerList = Static<typeof LockerList>

export const listLockers = endpoint({
  name: 'listLockers',
  method: 'GET',
  path: '/v1/lockers',
  auth: { ops: ['locker:list'] },
  summary: 'What a wallet owns or operates, newest payment first; the envelope has empty ids, and `aud`: the base URL',
  query: Type.Object({
    wallet: SigningWallet,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'The most entries in one page.' }),
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
  // Sets the same values again.
  repeatable: true,
  path: '/v1/storage/refresh',
  auth: { ops: ['locker:refresh'] },
  summary: 'The record of a locker with the paths of its files; with ttl_min, also download URLs for them',
  body: Type.Object({
    receipt_id: Type.Optional(Type.String()),
    locker_id: Type.Optional(Type.String()),
    ttl_min: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1440, description: 'Asks for URLs that work for this many minutes.' }),
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
  summary: 'What a locker is, and where its attestation stands',
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
  summary: 'A download URL for each file that has bytes',
  params: LockerPath,
  query: Type.Object({ ttl_min: Type.Optional(TtlMinutes), ...Page }),
  responses: { 200: DownloadUrls },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'RATE_LIMITED', ...RESTRICTION_ERRORS],
})

export const addOperator = endpoint({
  name: 'addOperator',
  method: 'POST',
  // The key is in the set or joins it.
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
      added: Type.Boolean({ description: 'False when the key was registered already.' }),
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
  summary: 'Take that back at once, with the URLs and upload sessions that the key asked for',
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
  // What is revoked stays so.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/revoke',
  auth: { ops: ['locker:admin'] },
  summary: 'End all URLs and upload sessions of a locker, no matter who asked for them',
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
  // A link that is rotated twice has the newer id.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/public-link',
  auth: { ops: ['locker:admin'] },
  summary: 'Rotate what opens the public link, close the link, or open it again',
  params: LockerPath,
  body: Type.Object(
    { action: Words(['rotate', 'close', 'open']) },
    {
      description:
        '`rotate`: from now on a new id opens the link, and the one before never again. `open`: a closed link is opened by the id that it had.',
    },
  ),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), public_link: PublicLink }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED', ...RESTRICTION_ERRORS],
})

export const changeAnchoring = endpoint({
  name: 'changeAnchoring',
  method: 'POST',
  // Sets the same value again.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/anchoring',
  auth: { ops: ['locker:admin'] },
  summary: 'Publish each statement of a locker on its own, or leave that to the transparency log',
  params: LockerPath,
  body: Type.Object(
    { anchoring: Anchoring },
    {
      description:
        '`each`: every statement is published on its own, as the gateway is set. `log`: statements are on chain through the anchored checkpoints of the log; POST /v1/attest/push still publishes one.',
    },
  ),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), locker_id: Type.String(), anchoring: Anchoring }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'OWNER_REQUIRED'],
})
