// The checks of the statements that a gateway lists. Each statement is recomputed from its signed envelope; an unchecked
// one is never drawn as linked (T-38).

import type { Statements } from '@svc/api/evidence'
import { isHex } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { PinnedKey } from '@svc/verifier/pinned-keys'
import { isObject, type JsonObject, printable } from '@svc/verifier/untrusted'
import { verifyChain } from '@svc/verifier/verify-chain'
import { type VerifiedStatement, verifyStatement } from '@svc/verifier/verify-statement'

/** Untrusted data from the gateway: every field is checked. */
type ListedStatement = Partial<Record<keyof Statements['statements'][number], unknown>>

/** The statement of the bundle on the page. */
export interface ShownStatement {
  proofId: string
  sequence: number
  digest: string
}

export function shownStatement(envelope: EvidenceEnvelope | null): ShownStatement | null {
  if (!envelope) return null
  const { body, statement_digest } = envelope
  return { proofId: body.proof_id, sequence: body.sequence, digest: statement_digest }
}

export interface CheckedStatement {
  listed: ListedStatement
  /** Null if the gateway sent no signed statement. */
  verified: VerifiedStatement | null
}

export type Link =
  | { kind: 'first' | 'linked' | 'linkedUnpinned' | 'broken' | 'listed' | 'earlier' }
  | { kind: 'gap'; missing: number }

/** A remark on a statement besides failed facts, such as one that does not belong to this chain. */
type Remark = 'here' | 'otherHere' | 'foreign' | 'mislabelled' | 'malformed' | 'listedOnly'

export interface HistoryNode {
  sequence: number
  digest: string
  merkleRoot: string
  fileCount: number | null
  totalBytes: number | null
  issuedAt: string
  state: 'pinned' | 'signed' | 'failed' | 'listed'
  /** The reasons of failed facts, as sentences of the verifier. */
  whys: string[]
  remarks: Remark[]
  /** The link to the previous statement. */
  link: Link
  /** Milliseconds since the previous statement. */
  since: number | null
  anchor: HistoryAnchor | null
  absence: string | null
}

export interface HistoryAnchor {
  network: string
  tx: string
  slot: number | null
  /** ISO 8601. */
  time: string | null
  /** False if the anchor itself names another statement. */
  isOfStatement: boolean
}

export function checkStatement(
  listed: unknown,
  given: { pinnedKeys?: readonly PinnedKey[]; domainTag?: string },
): CheckedStatement {
  if (!isObject(listed)) return { listed: {}, verified: null }
  const { envelope } = listed
  return { listed, verified: isObject(envelope) ? verifyStatement(envelope, given) : null }
}

interface Of {
  /** Null if the page has no bundle. */
  shown: ShownStatement | null
  /** Whether the gateway has no earlier statements. */
  isAll: boolean
}

/** The nodes by statement number, oldest first. */
export function historyNodes(checked: readonly CheckedStatement[], of: Of): HistoryNode[] {
  const inOrder = [...checked].sort((a, b) => sequenceOf(a) - sequenceOf(b))
  const { problems } = verifyChain(inOrder.flatMap(({ verified }) => verified ?? []))
  const links = new Map<number, Set<string>>()
  for (const { code, sequence } of problems) {
    if (sequence === null || code === 'failed_facts') continue
    links.set(sequence, (links.get(sequence) ?? new Set()).add(code))
  }
  return inOrder.map((one, i) => {
    const before = inOrder[i - 1]
    const codes = links.get(sequenceOf(one)) ?? new Set()
    return { ...nodeOf(one, of.shown), link: linkOf(one, before, codes, of.isAll), since: timeBetween(before, one) }
  })
}

function linkOf(
  one: CheckedStatement,
  before: CheckedStatement | undefined,
  codes: ReadonlySet<string>,
  isAll: boolean,
): Link {
  const sequence = sequenceOf(one)
  if (!before) {
    if (sequence === 1 && previousOf(one) === null)
      return { kind: one.verified ? (isOwn(one) ? 'first' : 'broken') : 'listed' }
    if (sequence <= 1) return { kind: 'broken' }
    return isAll ? { kind: 'gap', missing: sequence - 1 } : { kind: 'earlier' }
  }
  const missing = sequence - sequenceOf(before) - 1
  if (missing > 0) return { kind: 'gap', missing }
  if (missing < 0 || previousOf(one) !== digestOf(before)) return { kind: 'broken' }
  if (!one.verified || !before.verified) return { kind: 'listed' }
  // The named digest must be the digest of the previous statement, and a signed statement must name it.
  const isSame = before.verified.facts.statement_digest_matches.value === 'passed' && before.verified.envelope !== null
  if (!isSame || !isOwn(one) || codes.has('fork') || codes.has('other_proof') || codes.has('repeat')) {
    return { kind: 'broken' }
  }
  return { kind: codes.has('other_key') ? 'linkedUnpinned' : 'linked' }
}

/** Whether the statement is well formed, matches its digest and is signed. */
function isOwn({ verified }: CheckedStatement): boolean {
  if (!verified) return true
  const { envelope, facts } = verified
  return (
    envelope !== null && facts.statement_digest_matches.value === 'passed' && facts.signature_valid.value === 'passed'
  )
}

type Shown = Omit<HistoryNode, 'link' | 'since'>

function nodeOf(one: CheckedStatement, shown: ShownStatement | null): Shown {
  const { listed, verified } = one
  const body = verified?.envelope?.body
  const digest = digestOf(one) ?? ''
  const remarks = remarksOn(one, shown)
  const facts = verified ? Object.values(verified.facts) : []
  return {
    sequence: sequenceOf(one),
    digest,
    merkleRoot: body?.merkle_root ?? textOf(listed.merkle_root),
    fileCount: body?.file_count ?? countOf(listed.file_count),
    totalBytes: countOf(Number(body?.total_bytes ?? listed.total_bytes)),
    issuedAt: body?.issued_at ?? textOf(listed.issued_at),
    state: stateOf(verified, remarks),
    whys: facts.flatMap((fact) => (fact.value === 'failed' ? [fact.why] : [])),
    remarks,
    anchor: anchorOf(listed.anchor, digest),
    absence: isObject(listed.anchor_absence) ? textOf(listed.anchor_absence.reason) : null,
  }
}

function stateOf(verified: VerifiedStatement | null, remarks: readonly Remark[]): HistoryNode['state'] {
  const isWrong = remarks.some((remark) => remark !== 'here' && remark !== 'listedOnly')
  if (isWrong || (verified && verified.failed.length > 0)) return 'failed'
  if (!verified) return 'listed'
  return verified.facts.key_pinned.value === 'passed' ? 'pinned' : 'signed'
}

function remarksOn(one: CheckedStatement, shown: ShownStatement | null): Remark[] {
  const { listed, verified } = one
  if (!verified) return isHex(textOf(listed.statement_digest), 32) ? ['listedOnly'] : ['malformed']
  const { envelope } = verified
  if (!envelope) return ['malformed']
  const { body, statement_digest } = envelope
  const remarks: Remark[] = []
  if (listed.sequence !== body.sequence || listed.statement_digest !== statement_digest) remarks.push('mislabelled')
  if (!shown) return remarks
  if (body.proof_id !== shown.proofId) remarks.push('foreign')
  else if (body.sequence === shown.sequence) remarks.push(statement_digest === shown.digest ? 'here' : 'otherHere')
  return remarks
}

function anchorOf(anchor: unknown, digest: string): HistoryAnchor | null {
  if (!isObject(anchor)) return null
  const { chain, tx, slot, block_time, statement_digest, payload } = anchor
  const named = statement_digest ?? (isObject(payload) ? payload.dg : undefined)
  return {
    network: textOf(chain),
    tx: textOf(tx),
    slot: countOf(slot),
    time: timeOf(block_time),
    isOfStatement: named === undefined || named === null || named === digest,
  }
}

function sequenceOf({ listed, verified }: CheckedStatement): number {
  return verified?.envelope?.body.sequence ?? countOf(listed.sequence) ?? 0
}

function digestOf({ listed, verified }: CheckedStatement): string | null {
  return verified?.envelope?.statement_digest ?? (textOf(listed.statement_digest) || null)
}

function previousOf({ listed, verified }: CheckedStatement): string | null {
  const body = verified?.envelope?.body
  return body ? body.prev_statement_digest : textOf(listed.prev_statement_digest) || null
}

function timeBetween(before: CheckedStatement | undefined, one: CheckedStatement): number | null {
  const times = [before, one].map((of) => of?.verified?.envelope?.body.issued_at_unix)
  const [from, to] = times
  return from === undefined || to === undefined ? null : (to - from) * 1000
}

function timeOf(seconds: unknown): string | null {
  const date = typeof seconds === 'number' ? new Date(seconds * 1000) : null
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const MAX_TEXT = 200

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value, MAX_TEXT) : ''
}

/** The list of statements in an answer of the gateway. */
export function statementsIn(answer: unknown): readonly unknown[] {
  const { statements } = isObject(answer) ? (answer as JsonObject) : {}
  return Array.isArray(statements) ? statements : []
}
