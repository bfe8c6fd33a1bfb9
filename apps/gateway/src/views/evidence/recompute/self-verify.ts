// `GET /v1/self-verify`: recomputes everything in a statement from the database. It reads no file and no chain.

import type { SelfVerify } from '@svc/api/proofs'
import { type Limit, limit } from '@svc/concurrency/locks'
import { isoSeconds, statementDigest } from '@svc/protocol/evidence'
import type { VerificationFacts } from '@svc/protocol/facts'
import { snapshotId } from '@svc/protocol/ids'
import type { WireRequest } from '@svc/service/http/wire-request'
import { limitAnonymous } from '../../../auth/limits.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { Db } from '../../../db/schema.ts'
import type { AttestationRecord } from '../../../evidence/record.ts'
import { findRecord } from '../../../evidence/store.ts'
import { isLong } from '../../../evidence/view.ts'
import { factsOf, readAttested } from '../read-evidence.ts'
import { type CacheOutcome, cacheOutcomes } from './cache-outcomes.ts'
import { type SnapshotDigests, snapshotDigests } from './snapshot-digests.ts'

type Digests = SnapshotDigests | null
type Check = 'passed' | 'failed' | 'not_checked'

/** The digests of long lists of files, which are hashed one at a time. */
export interface LongDigests {
  cached: CacheOutcome<Digests>
  oneAtATime: Limit
}

export function openLongDigests({ now }: Pick<Context, 'now'>): LongDigests {
  return { cached: cacheOutcomes(now, (digests) => digests !== null), oneAtATime: limit(1) }
}

export async function selfVerify(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence }: { receipt_id: string; sequence?: number },
): Promise<SelfVerify> {
  await limitAnonymous(context, wire, receipt_id)
  const attested = await readAttested(context, receipt_id, sequence)
  const { record } = attested
  const verification = await factsOf(context, attested)
  return {
    receipt_id,
    checks: await checksOf(context.database.db, record, await digestsOf(context, record), verification),
    anchor: record.anchor,
    verification,
    checked_at: isoSeconds(unixNow(context)),
  }
}

async function digestsOf({ database: { db }, longDigests }: Context, of: AttestationRecord): Promise<Digests> {
  if (!isLong(of)) return snapshotDigests(db, of)
  const { cached, oneAtATime } = longDigests
  const { outcome } = await cached(`${of.lockerId} ${of.snapshotKey}`, () => oneAtATime(() => snapshotDigests(db, of)))
  return outcome
}

/** Compares with the signed statement. A record of the oracle era has none, so only the record itself is compared. */
async function checksOf(
  db: Db,
  of: AttestationRecord,
  digests: Digests,
  { signature_valid }: VerificationFacts,
): Promise<SelfVerify['checks']> {
  const { record } = of
  const body = record.envelope?.body
  const ofBody = (holds: (signed: NonNullable<typeof body>) => boolean): Check =>
    body ? check(() => holds(body)) : 'not_checked'
  return {
    merkle_root_matches: check(() =>
      [record, body ?? record].every(
        ({ merkle_root, file_count }) => merkle_root === digests?.merkleRoot && file_count === digests.fileCount,
      ),
    ),
    result_hash_matches: check(() => record.result_hash === digests?.resultHash),
    manifest_digest_matches: ofBody((signed) => signed.manifest_digest === digests?.manifestDigest),
    snapshot_id_matches: ofBody(
      (signed) => signed.snapshot_id === record.snapshot_id && signed.snapshot_id === idOf(signed.proof_id, digests),
    ),
    statement_digest_matches: ofBody((signed) => statementDigest(signed) === record.envelope?.statement_digest),
    signature_valid,
    chain_links: body ? await chainLinks(db, of) : 'not_checked',
  }
}

function idOf(proofId: string, digests: Digests): string | null {
  if (!digests) return null
  const { merkleRoot, manifestDigest, fileCount } = digests
  return snapshotId({
    proof_id: proofId,
    merkle_root: merkleRoot,
    manifest_digest: manifestDigest,
    file_count: fileCount,
  })
}

/** The previous statement must exist and hash to the digest that this one names (EVID-11). */
async function chainLinks(db: Db, { receiptId, sequence, record }: AttestationRecord): Promise<Check> {
  const before = sequence > 1 ? await findRecord(db, receiptId, sequence - 1) : null
  return check(() => {
    const body = record.envelope?.body
    if (body?.sequence !== sequence || record.evidence_seq !== sequence) return false
    if (sequence === 1) return body.prev_statement_digest === null
    const previous = before?.record.envelope?.body
    return (
      previous !== undefined &&
      previous.proof_id === body.proof_id &&
      statementDigest(previous) === body.prev_statement_digest
    )
  })
}

/** A value that cannot be computed fails the check. */
function check(holds: () => boolean): Check {
  try {
    return holds() ? 'passed' : 'failed'
  } catch {
    return 'failed'
  }
}
