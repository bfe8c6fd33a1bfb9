// `GET /v1/storage/recompute-verify`: reads every attested file again and compares it with the statement.

import type { RecomputeVerify } from '@svc/api/proofs'
import { isoSeconds } from '@svc/protocol/evidence'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { lockerNotFound } from '../../../auth/errors.ts'
import { limitAnonymous } from '../../../auth/limits.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { AttestationRecord } from '../../../evidence/record.ts'
import { fileOf, type SnapshotFile, type StoredFile } from '../../../evidence/snapshots/chunk-content.ts'
import { answerInPieces, withFiles } from '../../../evidence/view.ts'
import { createObjectReader, type HashObject } from '../../../files/confirm/hash-object.ts'
import { findLockerOf } from '../../../files/store.ts'
import { type Attested, factsOf, readAttested } from '../read-evidence.ts'
import { type CacheOutcome, cacheOutcomes } from './cache-outcomes.ts'
import { type Rehashed, rehash } from './rehash.ts'

type Recomputed = Rehashed & { checkedAt: string }

/** Lockers that this process reads at the same time. Each is read as fast as the disk allows. */
const MAX_CONCURRENT = 4
const MAX_CACHED_DIFFERENCES = 1000
/** Finding and opening a file costs as much as reading this many bytes. */
const BYTES_PER_FILE = 65_536

/** Results of the last minute, and the readings in progress. */
export interface Recomputations {
  readObject: HashObject
  cached: CacheOutcome<Recomputed>
  /** How many lockers are being read. */
  running: number
}

export function openRecomputations({ providers, now }: Pick<Context, 'providers' | 'now'>): Recomputations {
  return {
    readObject: createObjectReader(providers),
    cached: cacheOutcomes(now, ({ differing }) => differing.size <= MAX_CACHED_DIFFERENCES),
    running: 0,
  }
}

/** Reads each statement once for all requests within a minute (T-10). */
export async function recomputeVerify(context: Context, wire: WireRequest, receiptId: string) {
  await limitAnonymous(context, wire, receiptId)
  const attested = await readAttested(context, receiptId)
  const { record } = attested
  requireAffordable(context, record)
  const { outcome, cached } = await context.recomputations.cached(`${receiptId} ${record.sequence}`, () =>
    recompute(context, record),
  )
  return answerInPieces<RecomputeVerify>(record, pieces(context, attested, outcome, cached))
}

async function recompute(context: Context, of: AttestationRecord): Promise<Recomputed> {
  const { recomputations } = context
  if (recomputations.running >= MAX_CONCURRENT) throw busy()
  recomputations.running++
  try {
    const locker = await findLockerOf(context.database.db, { receipt_id: of.receiptId })
    if (!locker) throw lockerNotFound()
    const { readObject } = recomputations
    const found = await rehash(context, locker, of, { readObject, spend: spendUpTo(context.config.evidence) })
    return { ...found, checkedAt: isoSeconds(unixNow(context)) }
  } finally {
    recomputations.running--
  }
}

async function* pieces(context: Context, attested: Attested, outcome: Recomputed, cached: boolean) {
  const { record: of } = attested
  const { merkle_root, file_count } = of.record
  const { merkleRoot, fileCount, totalBytes, differing, checkedAt } = outcome
  const head: Omit<RecomputeVerify, 'files'> = {
    receipt_id: of.receiptId,
    locker_id: of.lockerId,
    match: differing.size === 0 && merkleRoot === merkle_root && fileCount === file_count,
    stored: { merkle_root, file_count },
    recomputed: { merkle_root: merkleRoot, file_count: fileCount, total_bytes: String(totalBytes) },
    missing: namesOf(differing, true),
    mismatched: namesOf(differing, false),
    checked_at: checkedAt,
    cached,
    anchor: of.anchor,
    verification: await factsOf(context, attested),
  }
  yield* withFiles(head, of, context, showFile(differing))
}

type Differing = Rehashed['differing']

function namesOf(differing: Differing, isGone: boolean): string[] {
  return [...differing].filter(([, actual]) => (actual === null) === isGone).map(([filename]) => filename)
}

function showFile(differing: Differing): (file: StoredFile) => string {
  return (file) => JSON.stringify(compared(fileOf(file), differing))
}

function compared(file: SnapshotFile, differing: Differing): RecomputeVerify['files'][number] {
  const { filename, content_hash: recorded_hash } = file
  const actual_hash = differing.get(filename)
  if (actual_hash === undefined) return { filename, status: 'match', recorded_hash, actual_hash: recorded_hash }
  return { filename, status: actual_hash === null ? 'missing' : 'mismatch', recorded_hash, actual_hash }
}

function requireAffordable({ config }: Context, { record }: AttestationRecord): void {
  const cost = Math.max(record.total_bytes, record.file_count * BYTES_PER_FILE)
  if (cost > config.evidence.recomputeMaxBytes) throw tooMuch(config.evidence)
}

/** The locker may contain more now than when it was attested. */
function spendUpTo(evidence: Context['config']['evidence']): (bytes: number) => void {
  let spent = 0
  return (bytes) => {
    spent += Math.max(bytes, BYTES_PER_FILE)
    if (spent > evidence.recomputeMaxBytes) throw tooMuch(evidence)
  }
}

/** Has no Retry-After, because waiting does not help. */
function tooMuch({ recomputeMaxBytes }: Context['config']['evidence']): ServiceError {
  return new ServiceError('RATE_LIMITED', 'this locker is too large for this gateway to read again', {
    hint: 'get the evidence bundle and the files, and verify them yourself, which needs no trust in this gateway',
    details: { max_bytes: recomputeMaxBytes, each_file_counts_at_least: BYTES_PER_FILE },
  })
}

function busy(): ServiceError {
  return new ServiceError('RATE_LIMITED', 'this gateway is already reading as many lockers as it can', {
    hint: 'try again in 10 s',
    headers: { 'retry-after': '10' },
    details: { retry_after_seconds: 10 },
  })
}
