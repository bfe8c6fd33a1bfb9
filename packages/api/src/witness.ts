// All endpoints of a witness: those of C2SP tlog-witness, and what it tells about itself.

import Type, { type Static } from 'typebox'
import { endpoint, endpointsOf } from './endpoint.ts'
import * as gateway from './info.ts'
import { NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

const TEXT = 'text/plain; charset=utf-8'

/** The longest checkpoint, and its longest proof. */
const MAX_ADD_CHECKPOINT_BYTES = 69_632

/** A refusal is a sentence, as logs and witnesses of others expect no JSON here. */
export const addCheckpoint = endpoint({
  name: 'addCheckpoint',
  method: 'POST',
  repeatable: true,
  path: '/add-checkpoint',
  auth: 'public',
  summary: 'Cosign a checkpoint that is consistent with the last one: c2sp.org/tlog-witness says how',
  maxBodyBytes: MAX_ADD_CHECKPOINT_BYTES,
  responses: {
    200: Type.String({ description: 'Signature lines.' }),
    400: Type.String({ description: 'The request is malformed, or its old size is above that of the checkpoint.' }),
    403: Type.String({ description: 'The checkpoint is not signed by a key of its log.' }),
    404: Type.String({ description: 'The log is not known here.' }),
    409: Type.String({
      description:
        'As `text/x.tlog.size`, the size to prove from. Otherwise the checkpoint contradicts one that was cosigned.',
    }),
    422: Type.String({ description: 'The proof does not hold.' }),
  },
  headers: NO_STORE,
  contentType: TEXT,
  errors: ['body_too_large', 'database_unavailable'],
})

export const cosignedCheckpoint = endpoint({
  name: 'cosignedCheckpoint',
  method: 'GET',
  path: '/{origin_hash}/checkpoint',
  auth: 'public',
  summary: 'The last checkpoint of a log that was cosigned here, with the cosignature',
  params: Type.Object({ origin_hash: Type.String({ description: 'SHA-256 of the origin of the log, in hex.' }) }),
  responses: { 200: Type.String() },
  headers: NO_STORE,
  contentType: TEXT,
  errors: ['not_found'],
})

export const witnessPage = endpoint({
  name: 'witnessPage',
  method: 'GET',
  path: '/',
  auth: 'public',
  summary: 'Who this witness is, and which logs it knows',
  responses: { 200: Type.String() },
  headers: NO_STORE,
  contentType: TEXT,
})

const ALARM_KINDS = [
  /** Two signed checkpoints that contradict each other. */
  'fork',
  /** A signed checkpoint that was not shown to follow the last one. */
  'unproven',
  /** A statement that does not follow the one before it in its chain. */
  'broken_chain',
  /** An entry of the log whose statement the gateway does not show. */
  'vanished_statement',
  /** A malformed statement, or one without the signature of a trusted key. */
  'bad_statement',
  /** A statement that is dated before the one it follows, or long before it appeared in the log. */
  'back_dated',
  'future_dated',
  /** Neither the statement nor a checkpoint with it was published on chain in time. */
  'late_anchor',
  /** A transaction that does not publish what the gateway says it does. */
  'wrong_anchor',
  /** The log, or what the gateway says of it, cannot be read. */
  'unreachable_too_long',
  /** More alarms of one kind than are kept. */
  'too_many',
] as const
export type AlarmKind = (typeof ALARM_KINDS)[number]

export const Alarm = Type.Object(
  {
    id: Type.Integer(),
    origin: Type.String({ description: 'The log.' }),
    kind: Words(ALARM_KINDS),
    message: Type.String(),
    evidence: Type.Array(Type.String(), { description: 'Texts with their signatures, which anybody can check.' }),
    raised_at: Timestamp(),
    resolved_at: OrNull(Timestamp()),
  },
  { title: 'Alarm' },
)
export type Alarm = Static<typeof Alarm>

/** In one page: evidence is long. */
export const MAX_ALARMS = 20

export const alarms = endpoint({
  name: 'alarms',
  method: 'GET',
  path: '/alarms',
  auth: 'public',
  summary: 'What logs did that they must not do, newest first',
  query: Type.Object({
    before: Type.Optional(Type.Integer({ minimum: 1, description: '`next` of the page before.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ALARMS, default: MAX_ALARMS })),
  }),
  responses: { 200: Type.Object({ alarms: Type.Array(Alarm), next: OrNull(Type.Integer()) }) },
  headers: NO_STORE,
  errors: ['validation_error'],
})

export const WitnessHealth = Type.Object(
  {
    status: Words(['ok', 'degraded']),
    release: gateway.Release,
    time: Timestamp(),
    checks: Type.Object({ database: Words(['ok', 'failing']) }),
    logs: Type.Integer({ description: 'How many it knows.' }),
    open_alarms: OrNull(Type.Integer({ description: 'Null while the database is away.' })),
    monitored: Type.Array(
      Type.Object({
        origin: Type.String(),
        size: Type.Integer({ description: 'How many of its entries have been judged.' }),
        anchored: Type.Integer({ description: 'How many of them are known to be published on chain.' }),
        read_at: Timestamp('When it was last read without a problem.'),
        problem: OrNull(Type.String({ description: 'Why it cannot be read now.' })),
      }),
      { description: 'Logs whose entries are judged.' },
    ),
  },
  { title: 'WitnessHealth' },
)
export type WitnessHealth = Static<typeof WitnessHealth>

export const health = endpoint({
  ...gateway.health,
  name: 'witnessHealth',
  summary: 'Whether the witness can cosign, and how many alarms are open',
  responses: { 200: WitnessHealth, 503: WitnessHealth },
})

export const live = endpoint({ ...gateway.live, name: 'witnessLive' })

/** It shows no more than `/health` and `/alarms`, which are public. */
export const metrics = endpoint({ ...gateway.metrics, name: 'witnessMetrics', auth: 'public', errors: [] })

export const openApi = endpoint({ ...gateway.openApi, name: 'witnessOpenApi' })

export const witnessEndpoints = endpointsOf([
  { addCheckpoint, cosignedCheckpoint, witnessPage, alarms, health, live, metrics, openApi },
])
