// Cosigns a checkpoint that extends the previous one (C2SP tlog-witness).

import { equalBytes, toHex } from '@svc/protocol/bytes'
import { type Checkpoint, cosign } from '@svc/protocol/transparency/checkpoint'
import { formatNote, formatSignature, isSignedBy, type NoteKey, signaturesOf } from '@svc/protocol/transparency/note'
import { EMPTY_ROOT, isConsistent, type TreeHead } from '@svc/protocol/transparency/tree'
import { raiseAlarm } from '../alarms/raise-alarm.ts'
import { type NewAlarm, resolveAlarm } from '../alarms/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { type AddRequest, readRequest } from './read-request.ts'
import { type Cosigned, findCosigned, saveCosigned } from './store.ts'

export type Outcome =
  | { status: 200; cosignatures: string }
  /** The size at which the next proof must begin. */
  | { status: 409; size: number }
  | { status: 400 | 403 | 404 | 409 | 422; problem: string }

const EMPTY: TreeHead = { size: 0, root: EMPTY_ROOT }

/** The checks follow the order of the specification. Checks without the database come first. */
export async function addCheckpoint(context: Context, body: Uint8Array): Promise<Outcome> {
  const request = readRequest(body)
  if (typeof request === 'string') return { status: 400, problem: request }
  const { checkpoint, oldSize } = request
  const keys = context.logs.keysOf(checkpoint.origin)
  if (keys.length === 0) return { status: 404, problem: 'this witness does not know the log' }
  if (!isSigned(checkpoint, keys)) return { status: 403, problem: 'no key of the log has signed the checkpoint' }
  if (oldSize > checkpoint.size)
    return { status: 400, problem: 'the old size is larger than the size of the checkpoint' }
  if (checkpoint.size === 0 && !equalBytes(checkpoint.root, EMPTY_ROOT))
    return { status: 422, problem: 'the root is not the root of an empty log' }
  const known = withSignaturesOf(checkpoint, keys)
  return context.database.commit((tx) => compareAndCosign(context, tx, { ...request, ...known }))
}

/** An invalid signature under the name of a trusted key invalidates the whole note (C2SP signed-note). */
function isSigned({ note }: Checkpoint, keys: readonly NoteKey[]): boolean {
  const named = keys.filter((key) => signaturesOf(note, key).length > 0)
  return named.length > 0 && named.every((key) => isSignedBy(note, key))
}

/** Other signatures are unverified. */
function withSignaturesOf(checkpoint: Checkpoint, keys: readonly NoteKey[]): { checkpoint: Checkpoint } {
  const { note } = checkpoint
  const signatures = keys.flatMap((key) => signaturesOf(note, key))
  return { checkpoint: { ...checkpoint, note: { text: note.text, signatures } } }
}

/** Runs in one transaction, so that the second of two concurrent requests sees the result of the first. */
async function compareAndCosign(context: Context, tx: Tx, request: AddRequest): Promise<Outcome> {
  const { checkpoint, oldSize, proof } = request
  const { origin, size } = checkpoint
  const last = await findCosigned(tx, origin)
  const head = last ?? EMPTY
  const isFork = size === head.size && !equalBytes(checkpoint.root, head.root)
  if (last && isFork) await raiseAlarm(context, tx, forkAlarm(checkpoint, last))
  if (oldSize !== head.size) return { status: 409, size: head.size }
  if (isFork && proof.length === 0) return { status: 409, problem: 'a different root was cosigned at this size' }
  if (!isConsistent(head, checkpoint, proof)) {
    if (last && size > last.size && last.size > 0) await raiseAlarm(context, tx, unprovenAlarm(checkpoint, last))
    return { status: 422, problem: `the proof from size ${oldSize} is invalid` }
  }
  return cosignAndSave(context, tx, checkpoint)
}

async function cosignAndSave(context: Context, tx: Tx, checkpoint: Checkpoint): Promise<Outcome> {
  const { key, sign } = context
  const { text, signatures } = checkpoint.note
  const cosignedAt = unixNow(context)
  const cosignature = await cosign(key, checkpoint, cosignedAt, sign)
  const note = formatNote({ text, signatures: [...signatures, cosignature] })
  await saveCosigned(tx, checkpoint, { note, cosignedAt })
  // Anyone may have sent this checkpoint with a wrong proof earlier.
  await resolveAlarm(tx, { origin: checkpoint.origin, kind: 'unproven', cause: causeOf(checkpoint) }, cosignedAt)
  return { status: 200, cosignatures: formatSignature(cosignature) }
}

function forkAlarm(checkpoint: Checkpoint, last: Cosigned): NewAlarm {
  return {
    origin: checkpoint.origin,
    kind: 'fork',
    cause: causeOf(checkpoint),
    message: `the log signed two different roots at size ${checkpoint.size}`,
    evidence: [last.note, formatNote(checkpoint.note)],
  }
}

function unprovenAlarm(checkpoint: Checkpoint, last: Cosigned): NewAlarm {
  return {
    origin: checkpoint.origin,
    kind: 'unproven',
    cause: causeOf(checkpoint),
    message: `the log signed size ${checkpoint.size} without a proof that it extends size ${last.size}`,
    evidence: [last.note, formatNote(checkpoint.note)],
  }
}

function causeOf({ size, root }: TreeHead): string {
  return `${size} ${toHex(root)}`
}
