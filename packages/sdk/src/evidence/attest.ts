import {
  type AttestAnswer,
  type AttestQueued,
  attest as endpoint,
  type PushAnswer,
  push as pushEndpoint,
} from '@svc/api/attestations'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { type Locker, metadata } from '../lockers.ts'
import { checkAttestation } from './checks.ts'

export interface AttestOptions {
  /** Uses the gateway's queue and polls, for lockers so large that one request might time out. */
  queued?: boolean
  signal?: AbortSignal | undefined
}

/** Makes the gateway sign a statement about the locker's files, and verifies it. */
export async function attest(context: Context, locker: Locker, options: AttestOptions = {}): Promise<AttestAnswer> {
  const { receipt_id } = locker
  const { queued = false, signal } = options
  if (queued) await untilAttested(context, locker, signal)
  // After queued work, this call returns the finished statement.
  const { body } = await call(context, endpoint, { query: { receipt_id, sync: true }, signal })
  const answer = body as AttestAnswer // the answer with `sync`
  await checkAttestation(context, receipt_id, answer.attestation)
  return answer
}

const MAX_POLLS = 300

async function untilAttested(context: Context, locker: Locker, signal: AbortSignal | undefined): Promise<void> {
  const before = (await metadata(context, locker, signal)).attestation?.evidence_seq ?? 0
  const { body } = await call(context, endpoint, { query: { receipt_id: locker.receipt_id }, signal })
  const { poll_after_sec } = body as AttestQueued // the answer without `sync`
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    await context.wait(poll_after_sec * 1000, signal)
    const { attestation, last_manifest_change_at } = await metadata(context, locker, signal)
    const isNew = (attestation?.evidence_seq ?? 0) > before
    const isCurrent = (attestation?.attested_at ?? '') >= (last_manifest_change_at ?? '')
    if (attestation?.status !== 'pending' && (isNew || isCurrent)) return
  }
}

/** Makes the gateway publish the newest statement on chain. A published statement is not published again. */
export async function push(context: Context, { receipt_id }: Locker, signal?: AbortSignal): Promise<PushAnswer> {
  return (await call(context, pushEndpoint, { body: { receipt_id }, signal })).body
}
