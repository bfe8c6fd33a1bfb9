// Service information and keys.

import {
  KEY_ENDORSEMENT_SCHEMA,
  KEY_ENDORSEMENT_TAG,
  KEY_REVOCATION_SCHEMA,
  KEY_REVOCATION_TAG,
  SIGNING_KEYS_SCHEMA,
} from '@svc/protocol/names'
import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { byChainCheck } from './networks.ts'
import { Hex, NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

/** Earlier releases do not report theirs. */
export const Release = Type.Optional(Type.String({ description: 'The release of the software that answers.' }))

const CheckState = Words(['ok', 'disabled', 'failing'])

export const NotOffered = Type.Object(
  {
    network: Type.String({ description: 'The friendly name of the network.' }),
    asset: Type.String({ description: 'Its ticker.' }),
    reason: Words([
      'chain_not_configured',
      'asset_not_configured',
      'token_account_missing',
      'token_account_unknown',
      'decimals',
      'no_price',
    ]),
    message: Type.String({ description: 'What the admin can do about it.' }),
  },
  { description: 'An asset that quotes leave out at the moment.' },
)
export type NotOffered = Static<typeof NotOffered>

export const Health = Type.Object(
  {
    status: Words(['ok', 'degraded']),
    version: Type.String({ description: 'The version of the interface.' }),
    release: Release,
    time: Timestamp(),
    checks: Type.Object({
      database: CheckState,
      storage: CheckState,
      ...byChainCheck(() => CheckState),
      signing_key: CheckState,
      publication_key: Words(['ok', 'low', 'failing', 'disabled']),
      price_feed: Type.Optional(
        Type.Enum(['ok', 'degraded', 'failing', 'disabled'], {
          description:
            '`degraded`: an older or a configured price is used. `failing`: coins without a price are not offered.',
        }),
      ),
    }),
    providers: Type.Record(Type.String(), CheckState, {
      description: 'The state of each storage provider that is sold, by its name.',
    }),
    budgets: Type.Optional(
      Type.Record(Type.String(), Words(['ok', 'used_up']), {
        description: "The day's budgets for publishing and for x402 payments that fail.",
      }),
    ),
    continuity: Type.Optional(
      Type.Object(
        {
          state: Type.Enum(['current', 'checking', 'behind'], {
            description:
              '`behind`: the database lacks something that this gateway has signed. It can be read, but nothing is signed or sold.',
          }),
          logbook: Type.Enum(['ok', 'failing', 'off'], { description: 'Whether the journal can be written.' }),
          chain: Type.Enum(['ok', 'failing', 'off'], { description: '`failing`: no node has answered yet.' }),
          missing_statements: Type.Integer({ minimum: 0 }),
          missing: Type.Array(
            Type.Object({ proof_id: Type.String(), sequence: Type.Integer(), statement_digest: Hex(32) }),
            { description: 'The first 100 missing statements.' },
          ),
          missing_payments: Type.Integer({ minimum: 0 }),
          missing_revocations: Type.Optional(
            Type.Integer({
              minimum: 0,
              description:
                'The number of changes of operators, URLs, S3 keys, links, restrictions and signing keys that the database lacks.',
            }),
          ),
          missing_others: Type.Optional(
            Type.Integer({
              minimum: 0,
              description: 'The number of missing lockers, anchor transactions and checkpoints of the log.',
            }),
          ),
          missing_since: Type.Optional(Type.String({ description: 'When the first missing item was signed.' })),
          awaited_logbooks: Type.Optional(
            Type.Integer({
              minimum: 0,
              description:
                'The number of journals, usually of other machines, that have not yet been found complete in this database.',
            }),
          ),
          log: Type.Optional(
            Type.Enum(['ok', 'failing', 'behind', 'forked', 'foreign'], {
              description:
                '`behind`: the database lacks entries of the published log. `forked`: it has other entries. `foreign`: another log is published in its place. `failing`: the published log cannot be read at the moment.',
            }),
          ),
          clock_ahead_seconds: Type.Optional(
            Type.Integer({
              description:
                "How far the clock of this process is ahead of PostgreSQL's; negative if it is behind. Beyond the configured limit (30 by default) nothing is signed or sold. Absent with SQLite.",
            }),
          ),
          heal: Type.Optional(Type.String({ description: 'What the admin should do next.' })),
        },
        { description: 'Whether the database has everything that this gateway has signed and accepted.' },
      ),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Problems that need attention soon, while the gateway still serves.' }),
    ),
    not_offered: Type.Optional(
      Type.Array(NotOffered, {
        description: 'Assets that quotes leave out, whether because of a problem or by configuration.',
      }),
    ),
  },
  { title: 'Health' },
)
export type Health = Static<typeof Health>

const Readiness = Type.Object(
  {
    status: Words(['ready', 'not_ready']),
    checks: Type.Object({ database: CheckState, storage: CheckState }),
  },
  { title: 'Readiness' },
)
export type Readiness = Static<typeof Readiness>

export const SigningKey = Type.Object(
  {
    key_id: Type.String({ pattern: '^ed25519:[0-9a-f]{16}$' }),
    alg: Type.Literal('ed25519'),
    public_key_hex: Hex(32),
    use: Words(['receipt', 'attestation', 'evidence-envelope']),
    status: Words(['active', 'retired']),
    valid_from: Type.Optional(Timestamp('The key signs from this time on.')),
    valid_to: Type.Optional(Timestamp('The key signed until this time. Its signatures remain valid.')),
    revoked_since: Type.Optional(
      Timestamp(
        'The key may have been stolen at this time. Its signatures prove something only if they were on chain before then.',
      ),
    ),
  },
  { title: 'SigningKey' },
)
export type SigningKey = Static<typeof SigningKey>

const NAMED_KEY = { key_id: Type.String({ pattern: '^ed25519:[0-9a-f]{16}$' }), public_key_hex: Hex(32) }
const NamedKey = Type.Object(NAMED_KEY, { title: 'NamedKey' })

const KEY_CHANGE = {
  purpose: Words(['statement']),
  audience: Type.String({ description: 'The public address of the gateway.' }),
}

export const KeyEndorsement = Type.Object(
  {
    body: Type.Object({
      schema: Type.Literal(KEY_ENDORSEMENT_SCHEMA),
      ...KEY_CHANGE,
      endorser: NamedKey,
      endorsed: NamedKey,
      valid_from: Timestamp('The endorsed key signs from this time on.'),
      issued_at: Timestamp(),
    }),
    signature: Hex(64),
  },
  {
    title: 'KeyEndorsement',
    description: `Signed by the endorser over ${KEY_ENDORSEMENT_TAG}, a zero byte and a SHA-256.`,
  },
)

export const KeyRevocation = Type.Object(
  {
    body: Type.Object({
      schema: Type.Literal(KEY_REVOCATION_SCHEMA),
      ...KEY_CHANGE,
      revoked: NamedKey,
      revoked_by: NamedKey,
      since: Timestamp('Only what was on chain before this time counts.'),
      issued_at: Timestamp(),
    }),
    signature: Hex(64),
  },
  {
    title: 'KeyRevocation',
    description: `Signed by revoked_by over ${KEY_REVOCATION_TAG}, a zero byte and a SHA-256.`,
  },
)

export const SigningKeys = Type.Object(
  {
    schema: Type.Literal(SIGNING_KEYS_SCHEMA),
    keys: Type.Array(SigningKey),
    note: Type.String(),
    next: Type.Optional(
      Type.Array(Type.Object({ ...NAMED_KEY, alg: Type.Literal('ed25519'), valid_from: Timestamp('Not before.') }), {
        description: 'Keys that will sign in the future.',
      }),
    ),
    endorsements: Type.Optional(Type.Array(KeyEndorsement)),
    revocations: Type.Optional(Type.Array(KeyRevocation)),
    recovery: Type.Optional(NamedKey),
    logs: Type.Optional(
      Type.Array(Type.Object({ origin: Type.String(), vkey: Type.String() }), {
        description:
          'The transparency logs of this gateway as verifier keys (name+hash+base64): the current log first, then the ended ones.',
      }),
    ),
  },
  { title: 'SigningKeys' },
)
export type SigningKeys = Static<typeof SigningKeys>

export const ShortUrlVerifyKey = Type.Object(
  {
    verify_key_hex: Hex(32),
    algorithm: Type.Literal('ed25519'),
    usage: Type.Literal('short_url_token_verification'),
  },
  { title: 'ShortUrlVerifyKey' },
)

export const Discovery = Type.Object(
  {
    name: Type.String(),
    environment: Words(['development', 'production']),
    contract_version: Type.String(),
    interface_version: Type.String(),
    base_url: Type.String(),
    openapi_url: Type.String(),
    docs_url: Type.String(),
    agent_url: Type.Optional(Type.String({ description: 'The agent service of the same admin.' })),
    verify_page: Type.Optional(
      Type.Object(
        { url: Type.String(), sha256: Hex(32) },
        { description: 'A single-file page that verifies evidence bundles without a network, and its hash.' },
      ),
    ),
    keys_url: Type.String(),
    short_url_verify_key_url: Type.String(),
    auth: Type.Object({
      envelope_header: Type.String(),
      signature_header: Type.String(),
      ops: Type.Array(Type.String()),
    }),
    payment: Type.Object({
      quote_schema: Type.String(),
      networks: Type.Array(
        Type.Object({
          network: Type.String(),
          name: Type.String(),
          assets: Type.Array(Type.String()),
          treasury: Type.String({ description: 'The address that receives all payments on this network.' }),
        }),
      ),
    }),
    storage: Type.Object({
      providers: Type.Array(Type.Object({ provider: Type.String(), storage: Type.Optional(Type.Literal('gateway')) })),
      max_upload_bytes: Type.Integer(),
    }),
    evidence: Type.Object({
      merkle: Type.String(),
      evidence: Type.String(),
      bundle_versions: Type.Array(Type.Integer()),
      anchor_envelope_versions: Type.Array(Type.Integer()),
      domain_tag: Type.String(),
      anchor_signer: Type.String({
        description: 'The public key, in base58, that signs the transactions which publish statements.',
      }),
    }),
    endpoints: Type.Array(
      Type.Object({ method: Type.String(), path: Type.String(), auth: Type.String(), summary: Type.String() }),
    ),
  },
  { title: 'Discovery' },
)
export type Discovery = Static<typeof Discovery>

const KEYS_CACHE = { 'cache-control': 'public, max-age=300' }

export const health = endpoint({
  name: 'health',
  method: 'GET',
  path: '/health',
  auth: 'public',
  summary: 'The health of the gateway and of each of its parts',
  responses: { 200: Health, 503: Health },
  headers: { 'cache-control': 'no-store' },
})

export const live = endpoint({
  name: 'live',
  method: 'GET',
  path: '/health/live',
  auth: 'public',
  summary: 'Whether the process answers; restart it if it does not',
  responses: { 200: Type.Object({ status: Type.Literal('live') }) },
  headers: NO_STORE,
})

export const ready = endpoint({
  name: 'ready',
  method: 'GET',
  path: '/health/ready',
  auth: 'public',
  summary: 'Whether requests should be sent here: 503 while the database or every storage provider is unavailable',
  responses: { 200: Readiness, 503: Readiness },
  headers: NO_STORE,
})

export const metrics = endpoint({
  name: 'metrics',
  method: 'GET',
  path: '/metrics',
  auth: 'internal',
  summary: 'Metrics for the admin, in the text format of Prometheus',
  responses: { 200: Type.String() },
  headers: { 'cache-control': 'no-store' },
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

export const keys = endpoint({
  name: 'keys',
  method: 'GET',
  path: '/v1/keys',
  auth: 'public',
  summary: 'The public keys that verify receipts, attestations and statements',
  responses: { 200: SigningKeys },
  headers: KEYS_CACHE,
})

export const wellKnownKeys = endpoint({ ...keys, name: 'wellKnownKeys', path: '/.well-known/svc-signing-keys.json' })

export const shortUrlVerifyKey = endpoint({
  name: 'shortUrlVerifyKey',
  method: 'GET',
  path: '/v1/short-url/verify-key',
  auth: 'public',
  summary: 'The public key that verifies short-URL tokens',
  responses: { 200: ShortUrlVerifyKey },
  headers: KEYS_CACHE,
})

export const discovery = endpoint({
  name: 'discovery',
  method: 'GET',
  path: '/.well-known/svc.json',
  auth: 'public',
  summary: 'Index of everything this service offers',
  responses: { 200: Discovery },
  headers: KEYS_CACHE,
})

export const home = endpoint({
  ...discovery,
  name: 'home',
  path: '/',
  summary: 'The index for programs, or the welcome page for browsers (text/html)',
  headers: { ...KEYS_CACHE, vary: 'accept' },
})

export const openApi = endpoint({
  name: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  auth: 'public',
  summary: 'This interface as OpenAPI 3.1',
  responses: { 200: Type.Object({}, { additionalProperties: true }) },
  headers: KEYS_CACHE,
})

export const docs = endpoint({
  name: 'docs',
  method: 'GET',
  path: '/docs',
  auth: 'public',
  summary: 'This interface as a page for browsers',
  responses: { 200: Type.String() },
  headers: { 'cache-control': 'no-cache' },
  contentType: 'text/html; charset=utf-8',
})

export const Stats = Type.Object(
  {
    lockers: OrNull(Type.Integer({ description: 'The number of lockers opened.' })),
    files_proven: OrNull(Type.Integer({ description: 'The number of files in the newest statements of all lockers.' })),
    last_anchor: OrNull(
      Type.Object({
        network: Type.String({ description: 'CAIP-2.' }),
        tx: Type.String(),
        sent_at: Timestamp(),
      }),
    ),
    as_of: OrNull(Timestamp('When these numbers were counted. All are null before the first count.')),
  },
  { title: 'Stats' },
)
export type Stats = Static<typeof Stats>

export const stats = endpoint({
  name: 'stats',
  method: 'GET',
  path: '/v1/stats',
  auth: 'public',
  summary: 'What this gateway stores, in three numbers; counted periodically, not on each request',
  responses: { 200: Stats },
  headers: { 'cache-control': 'public, max-age=60' },
})
