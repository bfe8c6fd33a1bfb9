// Lockers that the agent works on for their owners.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { ENVELOPE_ERRORS, Hex, NO_STORE, OrNull, Timestamp, Words } from '../wire.ts'
import { Identity, Subscription, SubscriptionQuote } from './subscriptions.ts'
import { Tasks } from './tasks.ts'

export const TASK_NAMES = ['mirror', 'watch', 'tell'] as const
export type TaskName = (typeof TASK_NAMES)[number]

/** In this order: waiting for the owner to register the key, working, unpaid, with its key removed, ended. */
export const DELEGATION_STATUSES = ['pending', 'active', 'paused', 'revoked', 'ended'] as const
export type DelegationStatus = (typeof DELEGATION_STATUSES)[number]

const DelegationId = Type.String({ pattern: '^dlg_[0-9a-f]{32}$' })

const NextStep = Type.Object(
  {
    method: Type.Literal('POST'),
    url: Type.String(),
    body: Type.Object({ pubkey: Type.String() }),
  },
  { title: 'NextStep', description: 'The signed request by which the owner registers the agent at the gateway.' },
)

const Run = Type.Object(
  {
    task: Words(TASK_NAMES),
    started_at: Timestamp(),
    finished_at: OrNull(Timestamp()),
    outcome: Words(['running', 'done', 'failed', 'stopped']),
    summary: Type.Record(Type.String(), Type.Unknown(), { description: 'A summary of the run, as named values.' }),
  },
  { title: 'Run' },
)
export type Run = Static<typeof Run>

export const FINDING_KINDS = [
  // info
  'baseline',
  'file_new',
  'file_changed',
  'file_gone',
  'statement_new',
  'mirror_changed',
  // alert
  'bytes_differ',
  'bytes_missing',
  'statement_untrue',
  'statement_lost',
  'statement_rewritten',
  'mirror_failed',
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export const Finding = Type.Object(
  {
    delegation_id: DelegationId,
    locker_id: Type.String(),
    sequence: Type.Integer({ minimum: 1 }),
    at: Timestamp(),
    kind: Words(FINDING_KINDS),
    severity: Words(['info', 'alert']),
    detail: Type.Record(Type.String(), Type.Unknown()),
    previous_digest: OrNull(Hex(32)),
    digest: Hex(32),
    signature: Hex(64),
    signer_pubkey: Hex(32),
  },
  {
    title: 'Finding',
    description: 'An entry in the signed log of a delegation. Each entry names the digest of the previous one.',
  },
)
export type Finding = Static<typeof Finding>

const summary = {
  delegation_id: DelegationId,
  receipt_id: Type.String(),
  locker_id: Type.String(),
  agent_pubkey: Type.String({ description: 'The key of this delegation only, base58.' }),
  status: Words(DELEGATION_STATUSES),
  tasks: Tasks,
  created_at: Timestamp(),
  registered_at: OrNull(Timestamp('When the gateway first accepted the key.')),
  ended_at: OrNull(Timestamp()),
  findings: Type.Integer({ description: 'The number of entries in the log.' }),
  alerts: Type.Integer({ description: 'The number of alerts among them.' }),
  next_runs: Type.Record(Type.String(), Timestamp(), {
    description: 'The time of the next run of each task, while the delegation is active.',
  }),
}

export const DelegationSummary = Type.Object(summary, { title: 'DelegationSummary' })
export type DelegationSummary = Static<typeof DelegationSummary>

export const Delegation = Type.Object(
  {
    ...summary,
    next_step: Type.Optional(NextStep),
    webhook_secret: Type.Optional(
      Type.String({
        description: 'The secret that signs messages to the address of `tell`. The receiver verifies them with it.',
      }),
    ),
    told: Type.Optional(
      Type.Object(
        {
          delivered: Type.Integer(),
          undelivered: Type.Integer({ description: 'Findings that are waiting to be sent, or were abandoned.' }),
          last_error: OrNull(Type.String({ description: 'Why the newest of them has not been accepted.' })),
        },
        { description: 'The outcome of sending findings to the address of `tell`.' },
      ),
    ),
    runs: Type.Array(Run, { description: 'Newest first.' }),
    log: Type.Array(Finding, { description: 'Entries that follow `after`, oldest first.' }),
    next_after: Type.Optional(
      Type.Integer({ description: 'Present when there are more entries. Send it as `after` to read them.' }),
    ),
  },
  { title: 'Delegation' },
)
export type Delegation = Static<typeof Delegation>

export const DelegateAnswer = Type.Object(
  {
    ok: Type.Literal(true),
    delegation_id: DelegationId,
    agent_pubkey: Type.String(),
    receipt_id: Type.String(),
    locker_id: Type.String(),
    ops: Type.Array(Type.String()),
    expires_at: Timestamp('When the subscription ends.'),
    status: Words(DELEGATION_STATUSES),
    tasks: Tasks,
    webhook_secret: Type.Optional(Type.String()),
    next_step: NextStep,
  },
  { title: 'DelegateAnswer' },
)
export type DelegateAnswer = Static<typeof DelegateAnswer>

export const DelegationList = Type.Object(
  { subscription: OrNull(Subscription), delegations: Type.Array(DelegationSummary) },
  { title: 'DelegationList' },
)
export type DelegationList = Static<typeof DelegationList>

const requestHeaders = Type.Object({ 'X-Svc-Identity': Identity })
const params = Type.Object({ delegation_id: DelegationId })
const COMMON_ERRORS = [...ENVELOPE_ERRORS, 'AUDIENCE_MISMATCH', 'RATE_LIMITED', 'validation_error'] as const

export const delegate = endpoint({
  name: 'delegate',
  method: 'POST',
  // A locker that is delegated again keeps its delegation.
  repeatable: true,
  path: '/v1/delegate',
  auth: { ops: ['locker:admin'] },
  summary: 'Delegate a locker to the agent, or change its tasks; signed by the owner',
  requestHeaders: Type.Object({ 'X-Svc-Identity': Type.Optional(Identity) }),
  // Fits fifty sources with URLs of the maximum length.
  maxBodyBytes: 163_840,
  body: Type.Object({
    receipt_id: Type.String({ maxLength: 128 }),
    locker_id: Type.String({ maxLength: 128 }),
    tasks: Type.Optional(Tasks),
  }),
  responses: { 200: DelegateAnswer, 402: SubscriptionQuote },
  headers: NO_STORE,
  errors: [
    ...COMMON_ERRORS,
    'OWNER_IDENTITY_MISMATCH',
    'receipt_not_found',
    'DELEGATION_LIMIT_EXCEEDED',
    'gateway_unavailable',
    'chain_unavailable',
  ],
})

export const listDelegations = endpoint({
  name: 'listDelegations',
  method: 'GET',
  path: '/v1/delegations',
  auth: { ops: ['locker:read'] },
  summary: 'The subscription and the delegations of the signer',
  requestHeaders,
  responses: { 200: DelegationList },
  headers: NO_STORE,
  errors: COMMON_ERRORS,
})

export const readDelegation = endpoint({
  name: 'readDelegation',
  method: 'GET',
  path: '/v1/delegations/{delegation_id}',
  auth: { ops: ['locker:read'] },
  summary: 'The runs and findings of a delegation, as a signed log',
  requestHeaders,
  params,
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 31,
        description: 'The sequence of the last entry that the caller has.',
      }),
    ),
  }),
  responses: { 200: Delegation },
  headers: NO_STORE,
  errors: [...COMMON_ERRORS, 'delegation_not_found'],
})

export const endDelegation = endpoint({
  name: 'endDelegation',
  method: 'DELETE',
  path: '/v1/delegations/{delegation_id}',
  auth: { ops: ['locker:admin'] },
  summary: 'End a delegation: its tasks stop, and its log remains',
  requestHeaders,
  params,
  responses: { 200: DelegationSummary },
  headers: NO_STORE,
  errors: [...COMMON_ERRORS, 'delegation_not_found'],
})
