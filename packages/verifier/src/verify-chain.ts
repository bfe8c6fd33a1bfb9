// Several bundles of one proof form a chain: each statement contains the digest of the previous one.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { SigningKey } from './signature-facts.ts'

type ChainProblem =
  /** A bundle without a statement: one of version 1, or with a malformed statement. */
  | 'no_statement'
  | 'other_proof'
  /** The same statement twice. */
  | 'repeat'
  /** Two statements with the same sequence number, or a statement that follows another one than the given one. */
  | 'fork'
  | 'gap'
  /** The key changed, and the two keys are not both pinned. */
  | 'other_key'
  /** A fact about a single bundle or statement failed. */
  | 'failed_facts'

export interface ChainReport {
  /** The sequence numbers in order. */
  sequences: number[]
  /** Empty for a correct chain from its first statement to its last. */
  problems: {
    code: ChainProblem
    why: string
    /** The statement that does not fit or does not follow the previous one. Null if there is none. */
    sequence: number | null
  }[]
  /** Whether the chain begins with the first statement ever made. */
  isFromStart: boolean
}

/** A verified bundle, or a verified statement. */
interface Verified {
  envelope: EvidenceEnvelope | null
  failed: readonly string[]
  key: SigningKey | null
}

type Link = Verified & { envelope: EvidenceEnvelope }

/** The bundles may be in any order. */
export function verifyChain(bundles: readonly Verified[]): ChainReport {
  const links = bundles.filter((bundle): bundle is Link => bundle.envelope !== null)
  links.sort((a, b) => a.envelope.body.sequence - b.envelope.body.sequence)
  const problems: ChainReport['problems'] = []
  const missing = bundles.length - links.length
  if (missing > 0) {
    problems.push({ code: 'no_statement', why: `${missing} of the bundles have no statement`, sequence: null })
  }
  for (const { envelope, failed } of links) {
    if (failed.length > 0) {
      const { sequence } = envelope.body
      problems.push({ code: 'failed_facts', why: `statement ${sequence}: ${failed.join(', ')} failed`, sequence })
    }
  }
  links.slice(1).forEach((link, i) => {
    const { sequence } = link.envelope.body
    problems.push(...problemsBetween(links[i] as Link, link).map((problem) => ({ ...problem, sequence })))
  })
  const sequences = links.map(({ envelope }) => envelope.body.sequence)
  return { sequences, problems, isFromStart: sequences[0] === 1 }
}

function problemsBetween(earlier: Link, later: Link): { code: ChainProblem; why: string }[] {
  const [before, after] = [earlier.envelope, later.envelope]
  const [from, to] = [before.body.sequence, after.body.sequence]
  if (before.body.proof_id !== after.body.proof_id) {
    return [{ code: 'other_proof', why: `statements ${from} and ${to} belong to different proofs` }]
  }
  if (from === to) {
    return before.statement_digest === after.statement_digest
      ? [{ code: 'repeat', why: `statement ${to} occurs twice` }]
      : [{ code: 'fork', why: `there are two different statements ${to}` }]
  }
  return [...linkProblem(before, after), ...keyProblem(earlier, later)]
}

function linkProblem({ body, statement_digest }: EvidenceEnvelope, { body: next }: EvidenceEnvelope) {
  if (next.sequence > body.sequence + 1) {
    const [first, last] = [body.sequence + 1, next.sequence - 1]
    const why = first === last ? `statement ${first} is missing` : `statements ${first} to ${last} are missing`
    return [{ code: 'gap' as const, why }]
  }
  if (next.prev_statement_digest === statement_digest) return []
  return [{ code: 'fork' as const, why: `statement ${next.sequence} does not follow statement ${body.sequence}` }]
}

function keyProblem({ key, envelope }: Link, { key: nextKey, envelope: next }: Link) {
  if (key?.public_key_hex === nextKey?.public_key_hex || (key?.pinned && nextKey?.pinned)) return []
  const why = `statements ${envelope.body.sequence} and ${next.body.sequence} are signed by two keys, which are not both pinned`
  return [{ code: 'other_key' as const, why }]
}
