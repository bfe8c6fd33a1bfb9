// Judges new statements of a log, each by itself and in its chain. Pure: earlier results are arguments.

import type { AlarmKind } from '@svc/api/witness'
import { fromHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceBody, type EvidenceEnvelope, isoSeconds } from '@svc/protocol/evidence'
import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { readStatementBody, statementDigestMatches } from '@svc/verifier/envelope-facts'
import { statementSignature } from '@svc/verifier/signature-facts'
import type { JsonObject } from '@svc/verifier/untrusted'
import type { ShownStatement } from './gateway-reader.ts'

/** An entry of the log, and the gateway's data about it. */
export interface LoggedEntry {
  index: number
  /** Hex. */
  digest: string
  shown: ShownStatement | undefined
}

/** The newest statement of each chain in the log, by proof id. */
export type Heads = ReadonlyMap<string, EvidenceEnvelope>

export interface EarlierResults {
  /** Of all chains to which the entries belong. */
  heads: Heads
  /** Digests of earlier entries whose statements are in no chain, among those that the entries refer to. */
  unchained: ReadonlySet<string>
  keys: FollowedKeys
  domainTag: string
  /** Unix seconds: a time when the log did not have these entries; null when unknown. */
  absentAt: number | null
  /** Unix seconds. */
  now: number
  /** The tolerated difference between clocks, and between a statement and its log entry. */
  toleranceSeconds: number
}

/** A fault of an entry. */
interface Objection {
  kind: AlarmKind
  entry: LoggedEntry
  why: string
  /** Oldest first. */
  statements: EvidenceEnvelope[]
}

export interface Judgement {
  objections: Objection[]
  /** The new heads of the chains that grew. */
  heads: Heads
  /** Digests of entries that are in no chain. */
  unchained: readonly string[]
}

export function judgeStatements(entries: readonly LoggedEntry[], earlier: EarlierResults): Judgement {
  const objections: Objection[] = []
  const heads = new Map<string, EvidenceEnvelope>()
  const unchained: string[] = []
  const isUnchained = (digest: string) => earlier.unchained.has(digest) || unchained.includes(digest)
  for (const entry of entries) {
    const object = (kind: AlarmKind, why: string, statements: EvidenceEnvelope[] = []) => {
      objections.push({ kind, entry, why, statements })
    }
    const missing = notShown(entry)
    if (missing !== null) {
      unchained.push(entry.digest)
      object('vanished_statement', missing)
      continue
    }
    const envelope = withoutOthers(entry.shown!.envelope!)
    const body = readStatementBody(envelope.body as unknown as Json)
    const flaw = typeof body === 'string' ? body : signatureProblem(envelope, earlier)
    if (typeof body === 'string' || flaw !== null) {
      unchained.push(entry.digest)
      object('bad_statement', flaw!, [envelope])
      continue
    }
    const head = heads.get(body.proof_id) ?? earlier.heads.get(body.proof_id)
    const before = head ? [head] : []
    const gap = chainProblem(head, envelope, isUnchained)
    if (gap !== null) object('broken_chain', gap, [...before, envelope])
    if (head && body.issued_at_unix < head.body.issued_at_unix)
      object('back_dated', 'it is dated before the statement that it follows', [...before, envelope])
    const date = dateProblem(body, earlier)
    if (date) object(date.kind, date.why, [envelope])
    if (!head || body.sequence > head.body.sequence) heads.set(body.proof_id, envelope)
  }
  return { objections, heads, unchained }
}

/** Only the fields of an envelope, without others that may have been added; the body is checked next. */
function withoutOthers({
  body,
  statement_digest,
  signature,
  issuer_pubkey = null,
  sig_alg,
}: JsonObject): EvidenceEnvelope {
  return { body, statement_digest, signature, issuer_pubkey, sig_alg } as unknown as EvidenceEnvelope
}

/** The reason why the gateway does not show the statement of an entry; null if it does. */
export function notShown({ digest, shown }: LoggedEntry): string | null {
  if (!fromHex(digest, 32)) return 'the entry is not the digest of a statement'
  if (!shown?.envelope) return 'the gateway does not show the statement of this entry'
  const isSame = shown.digest === digest && shown.envelope.statement_digest === digest
  const isIntact = statementDigestMatches({ envelope: shown.envelope }).value === 'passed'
  return isSame && isIntact ? null : 'the gateway shows a different statement than the log contains'
}

function signatureProblem(envelope: EvidenceEnvelope, { keys, domainTag, absentAt }: EarlierResults): string | null {
  const { signature_valid, key_pinned, revocation } = statementSignature(
    envelope as unknown as JsonObject,
    keys,
    domainTag,
  )
  if (signature_valid.value !== 'passed') return signature_valid.why ?? 'it is not signed'
  if (!revocation) return key_pinned.value === 'passed' ? null : key_pinned.why
  // A statement that was in the log before its key was stolen is genuine.
  const isOld = envelope.body.issued_at_unix < revocation.since && (absentAt ?? 0) < revocation.since
  const { otherwise } = revocation
  return isOld && otherwise.value === 'passed' ? null : (key_pinned.why ?? 'its key is revoked')
}

export function chainProblem(
  earlier: EvidenceEnvelope | undefined,
  { body, statement_digest }: EvidenceEnvelope,
  isUnchained: (digest: string) => boolean,
): string | null {
  const { sequence, prev_statement_digest: previous } = body
  if (earlier && sequence <= earlier.body.sequence) {
    const isRepeated = statement_digest === earlier.statement_digest
    return isRepeated ? `the log has statement ${sequence} twice` : `another statement ${sequence} comes after it`
  }
  if (previous !== null && isUnchained(previous)) return null
  const expected = (earlier?.body.sequence ?? 0) + 1
  if (sequence !== expected) return `the log has no statement ${expected} before statement ${sequence}`
  return previous === (earlier?.statement_digest ?? null)
    ? null
    : `statement ${sequence} does not follow the previous statement in the log`
}

function dateProblem(
  { issued_at_unix: issued }: EvidenceBody,
  { absentAt, now, toleranceSeconds }: EarlierResults,
): { kind: AlarmKind; why: string } | null {
  if (issued > now + toleranceSeconds)
    return { kind: 'future_dated', why: `it is dated ${isoSeconds(issued)}, but the time is ${isoSeconds(now)}` }
  if (absentAt !== null && issued < absentAt - toleranceSeconds) {
    const why = `it is dated ${isoSeconds(issued)}, but was not in the log at ${isoSeconds(absentAt)}`
    return { kind: 'back_dated', why }
  }
  return null
}
