// What is wrong with statements that appeared in a log, each by itself and in its chain. Pure: what was read before is
// given.

import type { AlarmKind } from '@svc/api/witness'
import { fromHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceBody, type EvidenceEnvelope, isoSeconds } from '@svc/protocol/evidence'
import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { readStatementBody, statementDigestMatches } from '@svc/verifier/envelope-facts'
import { statementSignature } from '@svc/verifier/signature-facts'
import type { JsonObject } from '@svc/verifier/untrusted'
import type { ShownStatement } from './gateway-reader.ts'

/** An entry of the log, and what the gateway shows for it. */
export interface LoggedEntry {
  index: number
  /** Hex. */
  digest: string
  shown: ShownStatement | undefined
}

/** By proof id, the newest statement of a chain that is in the log. */
export type Heads = ReadonlyMap<string, EvidenceEnvelope>

export interface Known {
  /** Of all chains that the entries belong to. */
  heads: Heads
  /** Digests of entries whose statements could not be taken into their chains, among those that the entries follow. */
  left: ReadonlySet<string>
  keys: FollowedKeys
  domainTag: string
  /** Unix seconds: the log did not have these entries then; null where nobody looked. */
  absentAt: number | null
  /** Unix seconds. */
  now: number
  /** How far clocks may differ, and how long a statement may take into the log. */
  toleranceSeconds: number
}

/** What is wrong with an entry. */
interface Objection {
  kind: AlarmKind
  entry: LoggedEntry
  why: string
  /** The oldest first. */
  statements: EvidenceEnvelope[]
}

export interface Judgement {
  objections: Objection[]
  /** Of the chains that went on, their new heads. */
  heads: Heads
  /** Digests of entries that are in no chain. */
  left: readonly string[]
}

export function judgeStatements(entries: readonly LoggedEntry[], known: Known): Judgement {
  const objections: Objection[] = []
  const heads = new Map<string, EvidenceEnvelope>()
  const left: string[] = []
  const isLeft = (digest: string) => known.left.has(digest) || left.includes(digest)
  for (const entry of entries) {
    const object = (kind: AlarmKind, why: string, statements: EvidenceEnvelope[] = []) => {
      objections.push({ kind, entry, why, statements })
    }
    const missing = notShown(entry)
    if (missing !== null) {
      left.push(entry.digest)
      object('vanished_statement', missing)
      continue
    }
    const envelope = withoutOthers(entry.shown!.envelope!)
    const body = readStatementBody(envelope.body as unknown as Json)
    const flaw = typeof body === 'string' ? body : signatureProblem(envelope, known)
    if (typeof body === 'string' || flaw !== null) {
      left.push(entry.digest)
      object('bad_statement', flaw!, [envelope])
      continue
    }
    const head = heads.get(body.proof_id) ?? known.heads.get(body.proof_id)
    const before = head ? [head] : []
    const gap = chainProblem(head, envelope, isLeft)
    if (gap !== null) object('broken_chain', gap, [...before, envelope])
    if (head && body.issued_at_unix < head.body.issued_at_unix)
      object('back_dated', 'it is dated before the statement that it follows', [...before, envelope])
    const date = dateProblem(body, known)
    if (date) object(date.kind, date.why, [envelope])
    if (!head || body.sequence > head.body.sequence) heads.set(body.proof_id, envelope)
  }
  return { objections, heads, left }
}

/** The fields of an envelope, and no others that somebody might have filled; the body is read next. */
function withoutOthers({
  body,
  statement_digest,
  signature,
  issuer_pubkey = null,
  sig_alg,
}: JsonObject): EvidenceEnvelope {
  return { body, statement_digest, signature, issuer_pubkey, sig_alg } as unknown as EvidenceEnvelope
}

/** Why the gateway does not show the statement of an entry; null where it does. */
export function notShown({ digest, shown }: LoggedEntry): string | null {
  if (!fromHex(digest, 32)) return 'the entry is not the digest of a statement'
  if (!shown?.envelope) return 'the gateway does not show the statement of this entry'
  const isSame = shown.digest === digest && shown.envelope.statement_digest === digest
  const isWhole = statementDigestMatches({ envelope: shown.envelope }).value === 'passed'
  return isSame && isWhole ? null : 'the gateway shows another statement than the log has'
}

function signatureProblem(envelope: EvidenceEnvelope, { keys, domainTag, absentAt }: Known): string | null {
  const { signature_valid, key_pinned, revocation } = statementSignature(
    envelope as unknown as JsonObject,
    keys,
    domainTag,
  )
  if (signature_valid.value !== 'passed') return signature_valid.why ?? 'it is not signed'
  if (!revocation) return key_pinned.value === 'passed' ? null : key_pinned.why
  // What was in the log before a key was stolen is not of a thief.
  const isOld = envelope.body.issued_at_unix < revocation.since && (absentAt ?? 0) < revocation.since
  const { otherwise } = revocation
  return isOld && otherwise.value === 'passed' ? null : (key_pinned.why ?? 'its key is revoked')
}

export function chainProblem(
  known: EvidenceEnvelope | undefined,
  { body, statement_digest }: EvidenceEnvelope,
  isLeft: (digest: string) => boolean,
): string | null {
  const { sequence, prev_statement_digest: previous } = body
  if (known && sequence <= known.body.sequence) {
    const isAgain = statement_digest === known.statement_digest
    return isAgain ? `the log has statement ${sequence} twice` : `another statement ${sequence} comes after it`
  }
  if (previous !== null && isLeft(previous)) return null
  const expected = (known?.body.sequence ?? 0) + 1
  if (sequence !== expected) return `the log has no statement ${expected} before statement ${sequence}`
  return previous === (known?.statement_digest ?? null)
    ? null
    : `statement ${sequence} follows another statement than the log has before it`
}

function dateProblem(
  { issued_at_unix: issued }: EvidenceBody,
  { absentAt, now, toleranceSeconds }: Known,
): { kind: AlarmKind; why: string } | null {
  if (issued > now + toleranceSeconds)
    return { kind: 'future_dated', why: `it is dated ${isoSeconds(issued)}, and it is ${isoSeconds(now)}` }
  if (absentAt !== null && issued < absentAt - toleranceSeconds) {
    const why = `it is dated ${isoSeconds(issued)}, and was not in the log ${isoSeconds(absentAt)}`
    return { kind: 'back_dated', why }
  }
  return null
}
