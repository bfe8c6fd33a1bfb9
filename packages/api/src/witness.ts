// All endpoints of a witness: C2SP tlog-witness, and information about the witness.

import Type, { type Static } from 'typebox'
import { endpoint, endpointsOf } from './endpoint.ts'
import * as gateway from './info.ts'
import { NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

const TEXT = 'text/plain; charset=utf-8'

/** The longest checkpoint with its longest proof. */
const MAX_ADD_CHECKPOINT_BYTES = 69_632

/** A refusal is a sentence, because third-party logs and witnesses expect no JSON here. */
export const addCheckpoint = endpoint({
  name: 'addCheckpoint',
  method: 'POST',
  repeatable: true,
  path: '/add-checkpoint',
  auth: 'public',
  summary: 'Cosign a checkpoint that is consistent with the last one, as specified at c2sp.org/tlog-witness',
  maxBodyBytes: MAX_ADD_CHECKPOINT_BYTES,
  responses: {
    200: Type.String({ description: 'Signature lines.' }),
    400: Type.String({ description: 'The request is malformed, or its old size is larger than the checkpoint.' }),
    403: Type.String({ description: 'The checkpoint is not signed by a key of its log.' }),
    404: Type.String({ description: 'The witness does not know this log.' }),
    409: Type.String({
      description:
        'As `text/x.tlog.size`: the size to prove from. Otherwise: the checkpoint contradicts a cosigned one.',
    }),
    422: Type.String({ description: 'The proof is invalid.' }),
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
  summary: 'The last checkpoint of a log that this witness cosigned, with the cosignature',
  params: Type.Object({ origin_hash: Type.String({ description: "The SHA-256 of the log's origin, in hex." }) }),
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
  summary: 'The name and key of this witness, and the logs that it knows',
  responses: { 200: Type.String() },
  headers: NO_STORE,
  contentType: TEXT,
})

const ALARM_KINDS = [
  /** Two signed checkpoints that contradict each other. */
  'fork',
  /** A signed checkpoint without a proof that it extends the last one. */
  'unproven',
  /** A statement that does not follow the one before it in its chain. */
  'broken_chain',
  /** An entry of the log whose statement the gateway does not return. */
  'vanished_statement',
  /** A malformed statement, or one without the signature of a trusted key. */
  'bad_statement',
  /** A statement that is dated before the one it follows, or long before it appeared in the log. */
  'back_dated',
  'future_dated',
  /** Neither the statement nor a checkpoint with it was published on chain in time. */
  'late_anchor',
  /** A transaction that does not publish what the gateway claims. */
  'wrong_anchor',
  /** The log, or the gateway's description of it, cannot be read. */
  'unreachable_too_long',
  /** More alarms of one kind than are stored. */
  'too_many',
] as const
export type AlarmKind = (typeof ALARM_KINDS)[number]

export const Alarm = Type.Object(
  {
    id: Type.Integer(),
    origin: Type.String({ description: 'The log.' }),
    kind: Words(ALARM_KINDS),
    message: Type.String(),
    evidence: Type.Array(Type.String(), { description: 'Signed texts, which anyone can verify.' }),
    raised_at: Timestamp(),
    resolved_at: OrNull(Timestamp()),
  },
  { title: 'Alarm' },
)
export type Alarm = Static<typeof Alarm>

/** The number of alarms in a page. Evidence can be long. */
export const MAX_ALARMS = 20

export const alarms = endpoint({
  name: 'alarms',
  method: 'GET',
  path: '/alarms',
  auth: 'public',
  summary: 'Violations by logs, newest first',
  query: Type.Object({
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'The `next` of the previous page.' })),
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
    logs: Type.Integer({ description: 'The number of logs that the witness knows.' }),
    open_alarms: OrNull(Type.Integer({ description: 'Null while the database is unavailable.' })),
    monitored: Type.Array(
      Type.Object({
        origin: Type.String(),
        size: Type.Integer({ description: 'The number of entries that have been checked.' }),
        anchored: Type.Integer({ description: 'The number of them that are known to be published on chain.' }),
        read_at: Timestamp('When the log was last read without a problem.'),
        problem: OrNull(Type.String({ description: 'Why the log cannot be read at the moment.' })),
      }),
      { description: 'The logs whose entries are checked.' },
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

/** Public, because it shows nothing beyond `/health` and `/alarms`. */
export const metrics = endpoint({ ...gateway.metrics, name: 'witnessMetrics', auth: 'public', errors: [] })

export const openApi = endpoint({ ...gateway.openApi, name: 'witnessOpenApi' })

export const witnessEndpoints = endpointsOf([
  { addCheckpoint, cosignedCheckpoint, witnessPage, alarms, health, live, metrics, openApi },
])
