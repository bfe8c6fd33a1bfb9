import type { Simulation } from '@svc/api/evidence'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import { attCode } from '@svc/protocol/ids'
import { hasSnapshotAccount, type Statement } from '../anchors/store.ts'
import { attestationHint } from '../attestations/errors.ts'
import type { AttestationRecord } from '../attestations/record.ts'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { readAttested } from './read-evidence.ts'

/** Answers what publishing the newest statement would write. It sends nothing. */
export async function simulateAttest(context: Context, receiptId: string, wire: WireRequest): Promise<Simulation> {
  await limitStranger(context, wire, receiptId)
  const { record } = await readAttested(context, receiptId)
  const simulation = await simulationOf(context, record)
  if (simulation) return simulation
  throw new ServiceError('attestation_not_available', 'this record is older than statements that can be published', {
    hint: attestationHint(receiptId, false),
  })
}

/** Null for a record of the oracle era: it has no statement. */
export async function simulationOf(context: Context, of: AttestationRecord): Promise<Simulation | null> {
  const { receiptId, sequence, record } = of
  if (!record.envelope) return null
  const payload = anchorPayload(record.envelope)
  const isInRegistry = await writesAccount(context, { receipt_id: receiptId, sequence }, payload.sid)
  return {
    receipt_id: receiptId,
    simulated: true,
    att_code: attCode(record.result_hash),
    result_hash: record.result_hash,
    would_write: {
      type: isInRegistry ? 'chain_sas_v1' : 'chain_memo_v2',
      payload: { ...payload },
      memo_bytes: anchorMemo(payload).length,
      signer: toBase58(context.signers.publication.publicKey),
    },
    on_chain_write: false,
  }
}

/** In mode `per_snapshot`, a snapshot that has its account is published again by memo only. */
async function writesAccount({ config, database }: Context, of: Statement, snapshotId: string): Promise<boolean> {
  const { kind, registry } = config.anchors
  if (kind !== 'registry') return false
  return registry.mode === 'latest' || !(await hasSnapshotAccount(database.db, of, snapshotId))
}
