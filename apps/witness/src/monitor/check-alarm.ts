// Verifies an alarm from its evidence alone, for a reader who trusts neither the witness nor the log.

import { equalBytes, fromBase64, fromHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { readSigned } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { isProvenEntry, readProof } from '@svc/protocol/transparency/proof'
import { prefixRoots } from '@svc/protocol/transparency/tree'
import { isObject } from '@svc/verifier/untrusted'
import { type VerifiedStatement, verifyStatement } from '@svc/verifier/verify-statement'
import { chainProblem } from './judge-statements.ts'

export interface AlarmCheck {
  /** Whether the texts alone prove the alarm. */
  isProven: boolean
  /** The findings, as sentences. */
  shown: string[]
}

const MAX_ALARM_LENGTH = 1024 * 1024

/** `text`: one alarm in the format of `GET /alarms`. Throws for any other text. */
export function checkAlarm(text: string, key: NoteKey): AlarmCheck {
  const alarm = parseStrictJson(text, MAX_ALARM_LENGTH)
  const { kind, evidence } = isObject(alarm) ? alarm : {}
  const texts = Array.isArray(evidence) ? (evidence as readonly Json[]) : []
  if (typeof kind !== 'string' || !texts.every((each) => typeof each === 'string'))
    throw new RangeError('this is not an alarm with evidence')
  return kind === 'fork' ? checkFork(texts, key) : checkEntry(kind, texts, key)
}

function checkFork([first = '', second = '', path = '']: readonly string[], key: NoteKey): AlarmCheck {
  const [earlier, later] = [readSigned(first, [key]), readSigned(second, [key])]
  if (typeof earlier === 'string') return unproven(`the first checkpoint: ${earlier}`)
  if (typeof later === 'string') return unproven(`the second checkpoint: ${later}`)
  const shown = [`the log signed checkpoints of ${earlier.size} and of ${later.size} entries`]
  if (earlier.size === later.size) {
    if (equalBytes(earlier.root, later.root)) return unproven(...shown, 'they have the same root')
    return { isProven: true, shown: [...shown, 'they have different roots'] }
  }
  const hashes = path.split('\n').flatMap((line) => (line === '' ? [] : [fromBase64(line) ?? new Uint8Array()]))
  const roots = earlier.size > 0 && earlier.size < later.size ? prefixRoots(earlier.size, later.size, hashes) : null
  if (!roots || !equalBytes(roots.later, later.root))
    return unproven(...shown, 'the hashes do not lead to the root of the larger checkpoint')
  if (equalBytes(roots.earlier, earlier.root))
    return unproven(...shown, 'the larger checkpoint extends the smaller one')
  return {
    isProven: true,
    shown: [...shown, 'the larger checkpoint begins with different entries than the smaller one'],
  }
}

function unproven(...shown: string[]): AlarmCheck {
  return { isProven: false, shown }
}

function checkEntry(kind: string, [first = '', ...rest]: readonly string[], key: NoteKey): AlarmCheck {
  const proof = readProof(first)
  if (typeof proof === 'string') return unproven(`the evidence contains no proof of an entry: ${proof}`)
  if (proof.checkpoint.origin !== key.name || !isSignedBy(proof.checkpoint.note, key))
    return unproven('the log has not signed the checkpoint of the proof')
  const statements = rest.map((text) => parseStrictJson(text, MAX_ALARM_LENGTH)).filter(isObject)
  const verified = statements.filter(({ body }) => isObject(body)).map((statement) => verifyStatement(statement))
  const entry = fromHex(verified.at(-1)?.envelope?.statement_digest ?? '', 32)
  if (!entry || !isProvenEntry(proof, entry))
    return unproven(`the log has an entry ${proof.index}, but the evidence does not show its content`)
  const shown = [`entry ${proof.index} of the log is the last of ${verified.length} statements`]
  const unsigned = verified.find(({ facts }) => facts.signature_valid.value !== 'passed')
  if (unsigned) return { isProven: kind === 'bad_statement', shown: [...shown, 'a statement is not signed'] }
  const problem = problemOf(kind, verified)
  return problem === null
    ? unproven(...shown, 'the texts alone do not prove the alarm')
    : { isProven: true, shown: [...shown, problem] }
}

/** The contradiction between two signed statements. */
function problemOf(kind: string, verified: readonly VerifiedStatement[]): string | null {
  const [before, after] = verified.map(({ envelope }) => envelope) as (EvidenceEnvelope | null | undefined)[]
  if (!before || !after || before.body.proof_id !== after.body.proof_id) return null
  if (kind === 'broken_chain') return chainProblem(before, after, () => false)
  const isBack = kind === 'back_dated' && after.body.issued_at_unix < before.body.issued_at_unix
  return isBack ? 'it is dated before the statement that it follows' : null
}
