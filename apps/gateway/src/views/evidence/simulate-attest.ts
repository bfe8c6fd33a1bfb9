import type { Simulation } from '@svc/api/evidence'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { attCode } from '@svc/protocol/ids'
import { attestationAddress, registryAddresses, registryNonce } from '@svc/protocol/registry'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { limitAnonymous } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import { attestationHint } from '../../evidence/errors.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { hasWrittenAccount, type Statement } from '../../publication/store.ts'
import { readAttested } from './read-evidence.ts'

/** Returns what publishing the newest statement would write, and sends nothing. */
export async function simulateAttest(context: Context, wire: WireRequest, receiptId: string): Promise<Simulation> {
  await limitAnonymous(context, wire, receiptId)
  const { record } = await readAttested(context, receiptId)
  const simulation = await simulationOf(context, record)
  if (simulation) return simulation
  throw new ServiceError('attestation_not_available', 'a record of the oracle era has no statement to publish', {
    hint: attestationHint(receiptId, false),
  })
}

/** Null for a record of the oracle era, which has no statement. */
export async function simulationOf(context: Context, of: AttestationRecord): Promise<Simulation | null> {
  const { receiptId, sequence, record } = of
  if (!record.envelope) return null
  const payload = anchorPayload(record.envelope)
  const signer = toBase58(context.signers.publication.publicKey)
  const isInRegistry = await writesAccount(context, { receipt_id: receiptId, sequence }, record.envelope, signer)
  return {
    receipt_id: receiptId,
    simulated: true,
    att_code: attCode(record.result_hash),
    result_hash: record.result_hash,
    would_write: {
      type: isInRegistry ? 'chain_sas_v1' : 'chain_memo_v2',
      payload: { ...payload },
      memo_bytes: anchorMemo(payload).length,
      signer,
    },
    on_chain_write: false,
  }
}

/**
 * In mode `per_snapshot`, a snapshot that already has an account is published again by memo only (SAS-05). The account
 * depends on the publication key and the name of the credential, which may have changed.
 */
async function writesAccount(
  { config, database }: Context,
  of: Statement,
  { body }: EvidenceEnvelope,
  signer: string,
): Promise<boolean> {
  const { kind, registry } = config.anchors
  if (kind !== 'registry') return false
  if (registry.mode === 'latest') return true
  const nonce = registryNonce(body.proof_id, body.snapshot_id)
  const account = attestationAddress(registryAddresses(signer, registry.credentialName), nonce)
  return !(await hasWrittenAccount(database.db, of, account))
}
