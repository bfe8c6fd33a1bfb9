// `GET /v1/storage/verify`: the attested facts of a receipt. It computes nothing.

import type { VerifyAnswer } from '@svc/api/evidence'
import { type Lru, lru } from '@svc/concurrency/caches'
import { batch } from '@svc/concurrency/sharing'
import { JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { attestationHint } from '../../evidence/errors.ts'
import { answerInPieces, attestationPieces, verifyUrl } from '../../evidence/view.ts'
import { type Evidence, factsOf, limitLong, readEvidence } from './read-evidence.ts'
import { type AttestationState, findStates } from './store.ts'

interface CachedAnswer {
  state: AttestationState
  text: string
}

const MAX_CACHED = 1000
const MAX_CACHED_CHARS = 16_384
const NOT_ATTESTED: AttestationState = {
  status: null,
  sequence: null,
  anchor_error: null,
  deferral: null,
  anchor: null,
  revoked_at: null,
}

/** Cached short answers about newest statements, and the current status of their receipts. */
export interface VerifyAnswers {
  cache: Lru<string, CachedAnswer>
  findState(receiptId: string): Promise<AttestationState>
}

export function openVerifyAnswers(db: Db): VerifyAnswers {
  return {
    cache: lru(MAX_CACHED),
    findState: batch(async (ids: string[]): Promise<AttestationState[]> => {
      const found = await findStates(db, [...new Set(ids)])
      const states = new Map(found.map((state) => [state.receipt_id, state]))
      return ids.map((id) => states.get(id) ?? NOT_ATTESTED)
    }),
  }
}

/**
 * A short answer about the newest statement is cached and used while the status of its receipt is unchanged. Reading
 * the status takes a tenth of the time of a new answer.
 */
export async function verify(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence }: { receipt_id: string; sequence?: number },
) {
  if (sequence !== undefined) {
    return answer(context, await readEvidence(context, receipt_id, sequence), wire, sequence)
  }
  const { cache, findState } = context.verifyAnswers
  const cached = cache.get(receipt_id)
  if (cached && isSame(cached.state, await findState(receipt_id))) {
    return new JsonText<VerifyAnswer>(cached.text)
  }
  const evidence = await readEvidence(context, receipt_id)
  const answered = await answer(context, evidence, wire)
  if (answered instanceof JsonText && answered.text.length <= MAX_CACHED_CHARS) {
    cache.set(receipt_id, { state: evidence.state, text: answered.text })
  }
  return answered
}

function isSame(a: AttestationState, b: AttestationState): boolean {
  return (
    a.sequence === b.sequence &&
    a.status === b.status &&
    a.anchor === b.anchor &&
    a.anchor_error === b.anchor_error &&
    a.deferral === b.deferral &&
    a.revoked_at === b.revoked_at
  )
}

async function answer(context: Context, evidence: Evidence, wire: WireRequest, sequence?: number) {
  await limitLong(context, wire, evidence.record)
  return answerInPieces<VerifyAnswer>(evidence.record, pieces(context, evidence, sequence))
}

async function* pieces(context: Context, evidence: Evidence, sequence?: number): AsyncGenerator<string> {
  const { receipt, record, isPending } = evidence
  const rest = {
    attestation_hint: record ? null : attestationHint(receipt.receipt_id, isPending),
    verified: record !== null,
    verify_url: verifyUrl(context, receipt.receipt_id) + (sequence === undefined ? '' : `&sequence=${sequence}`),
    verification: await factsOf(context, evidence),
    anchor: record?.anchor ?? null,
  }
  yield `{"receipt":${JSON.stringify(receipt)},"attestation":`
  if (record) yield* attestationPieces(context, record)
  else yield 'null'
  yield `,${JSON.stringify(rest).slice(1)}`
}
