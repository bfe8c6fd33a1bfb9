// The transparency log of all statements (C2SP tlog-tiles). All of these endpoints are public: entries name proofs and
// never receipts, because a receipt id gives access.

import { LOG_ANCHOR_SCHEMA } from '@svc/protocol/names'
import Type, { type Static } from 'typebox'
import { EvidenceEnvelope } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { PublishedAnchor } from './evidence.ts'
import { Hex, NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

const TEXT = 'text/plain; charset=utf-8'
const Vkey = Type.String({ description: 'A verifier key in the form of signed notes: name+hash+base64.' })
const Size = Type.Integer({ minimum: 0, description: 'The number of entries.' })

const LogAnchorPayload = Type.Object({
  s: Type.Literal(LOG_ANCHOR_SCHEMA),
  o: Type.String({ description: 'The origin of the log.' }),
  n: Size,
  root: Hex(32),
})

/** The on-chain publication of a checkpoint. */
export const LogAnchor = Type.Object(
  {
    chain: Type.String({ description: 'CAIP-2.' }),
    tx: Type.String(),
    slot: OrNull(Type.Integer()),
    block_time: OrNull(Type.Integer()),
    signer: Type.String(),
    payload: LogAnchorPayload,
    commitment: Words(['confirmed', 'finalized']),
    finalized: Type.Boolean(),
  },
  { title: 'LogAnchor' },
)
export type LogAnchor = Static<typeof LogAnchor>

export const LogState = Type.Object(
  {
    origin: Type.String({ description: 'The name of the log, which never changes.' }),
    vkey: Vkey,
    url: Type.String({ description: 'The base URL of its checkpoint and tiles.' }),
    size: Size,
    root: OrNull(Hex(32)),
    checkpoint_at: OrNull(Timestamp('When the newest checkpoint was signed. Null before the first, like the root.')),
    witnesses: Type.Array(Type.Object({ name: Type.String(), vkey: Vkey, url: OrNull(Type.String()) }), {
      description: 'The witnesses that are asked to cosign its checkpoints.',
    }),
    ended: Type.Optional(
      Type.Array(
        Type.Object({
          origin: Type.String(),
          vkey: Vkey,
          ended_at: Timestamp('When the admin ended the log.'),
          checkpoints: Type.Array(Type.String(), {
            description:
              'The last checkpoint with its signatures. There is a second one if a different one was published.',
          }),
        }),
        { description: 'The logs that this one replaced, newest first. Their proofs remain valid.' },
      ),
    ),
  },
  { title: 'LogState' },
)
export type LogState = Static<typeof LogState>

const { type, network, tx, slot, block_time, finalized } = PublishedAnchor.properties

export const LogStatements = Type.Object(
  {
    size: Size,
    entries: Type.Array(
      Type.Object({
        index: Type.Integer(),
        statement_digest: Hex(32),
        envelope: OrNull(EvidenceEnvelope),
        anchor: OrNull(Type.Object({ type, network, tx, slot, block_time, finalized })),
      }),
      { description: 'In the order of the log. `envelope` is null if the gateway has lost the statement.' },
    ),
    next: OrNull(Type.Integer({ description: 'The `from` of the next page. Null at the end of the log.' })),
  },
  { title: 'LogStatements' },
)
export type LogStatements = Static<typeof LogStatements>

const Conditional = Type.Object({ 'If-None-Match': Type.Optional(Type.String()) })

export const logState = endpoint({
  name: 'logState',
  method: 'GET',
  path: '/v1/log',
  auth: 'public',
  summary: 'The transparency log of all statements: its name, key, size and witnesses',
  responses: { 200: LogState },
  headers: NO_STORE,
  errors: ['STORAGE_UNAVAILABLE'],
})

export const logCheckpoint = endpoint({
  name: 'logCheckpoint',
  method: 'GET',
  path: '/log/checkpoint',
  auth: 'public',
  summary: 'The newest checkpoint of the log: a signed note with its size and root (C2SP tlog-tiles)',
  requestHeaders: Conditional,
  responses: { 200: Type.String() },
  contentType: TEXT,
  errors: ['not_in_log', 'STORAGE_UNAVAILABLE'],
})

export const logTile = endpoint({
  name: 'logTile',
  method: 'GET',
  path: '/log/tile/{+path}',
  auth: 'public',
  summary: 'A tile of hashes or of entries: `0/x001/234`, `0/005.p/7`, `entries/000`; it never changes',
  params: Type.Object({ path: Type.String() }),
  requestHeaders: Conditional,
  responses: { 200: Type.String({ contentMediaType: 'application/octet-stream' }) },
  contentType: 'application/octet-stream',
  errors: ['not_in_log', 'STORAGE_UNAVAILABLE'],
})

export const logStatements = endpoint({
  name: 'logStatements',
  method: 'GET',
  path: '/v1/log/statements',
  auth: 'public',
  summary: 'The signed statements of the entries of the log, by index',
  query: Type.Object({
    from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: '0 by default.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '100 by default.' })),
  }),
  responses: { 200: LogStatements },
  headers: NO_STORE,
  errors: ['STORAGE_UNAVAILABLE', 'validation_error'],
})

export const logProof = endpoint({
  name: 'logProof',
  method: 'GET',
  path: '/v1/log/proof',
  auth: 'public',
  summary: 'The proof that a statement is in the log, as one text (C2SP tlog-proof)',
  query: Type.Object({ statement_digest: Hex(32) }),
  responses: { 200: Type.String() },
  headers: NO_STORE,
  contentType: TEXT,
  errors: ['not_in_log', 'STORAGE_UNAVAILABLE', 'validation_error'],
})

export const LogAnchors = Type.Object(
  {
    anchors: Type.Array(LogAnchor, { description: 'Newest first.' }),
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'LogAnchors' },
)
export type LogAnchors = Static<typeof LogAnchors>

export const logAnchors = endpoint({
  name: 'logAnchors',
  method: 'GET',
  path: '/v1/log/anchors',
  auth: 'public',
  summary: 'The checkpoints of the log that were published on chain; each covers every statement up to its size',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '100 by default.' })),
    cursor: Type.Optional(
      Type.String({ pattern: '^[1-9][0-9]{0,15}$', description: 'The `next_cursor` of the previous page.' }),
    ),
  }),
  responses: { 200: LogAnchors },
  headers: NO_STORE,
  errors: ['validation_error'],
})
