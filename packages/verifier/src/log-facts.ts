// The facts about a log: whether the statement is in it, whether enough witnesses cosigned it, and whether it is
// anchored on chain. All three are about the checkpoint of the proof.

import { fromHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { logAnchorMemo, logAnchorPayload } from '@svc/protocol/transparency/anchor'
import type { Checkpoint } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { type Judgement, judge, type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import { isProvenEntry, type LogProof, readProof } from '@svc/protocol/transparency/proof'
import {
  finalized,
  findTransaction,
  hasCanonicalBytes,
  hasMemo,
  signerMatches,
  slotMatches,
  txSucceeded,
  wrongChain,
} from './anchor-transaction.ts'
import { type Fact, failed, type LogFacts, notChecked, PASSED, passedUnless, unavailable } from './facts.ts'
import type { GivenKeys } from './pinned-keys.ts'
import type { AnchorTransaction, Rpc } from './rpc.ts'
import { isObject, type JsonObject } from './untrusted.ts'

export { readPolicy }

/** Input about logs besides the bundle. */
export interface GivenLogs {
  /** Keys of logs. These keys and those of a policy take precedence over those of a key list. */
  pinnedLogs?: readonly NoteKey[]
  /** More logs, the witnesses of their checkpoints, and the required number of witnesses. */
  policy?: Policy
}

/** The content of the proof. Only the facts show which parts are verified. */
export interface LogReport {
  /** The name of the log. */
  origin: string
  index: number
  /** The number of entries in the log. */
  size: number
  /** The witnesses of the policy with valid cosignatures, and their times in Unix seconds. */
  cosigned: { name: string; time: number }[]
}

export interface LogCheck {
  /** Null if the bundle has no proof and the caller did not request one. */
  facts: LogFacts | null
  /** Null if there is no proof, or it is malformed. */
  report: LogReport | null
  /** The transaction that the log's anchor was compared with, or null. */
  transaction: AnchorTransaction | null
  /** The time of the block with a checkpoint that covers this statement. Null if that is not proven. */
  anchoredAt: number | null
}

interface LogQuestion extends GivenLogs, Pick<GivenKeys, 'listed'> {
  log: Json
  /** Null if the bundle has no statement, or it is malformed. */
  envelope: EvidenceEnvelope | null
  rpc?: Rpc | undefined
  pinnedSigners: readonly string[]
}

export async function checkLog(question: LogQuestion): Promise<LogCheck> {
  const { log, envelope, pinnedLogs = [], policy, listed } = question
  if (log === null) {
    const isAsked = policy !== undefined || pinnedLogs.length > 0
    return { ...NOTHING, facts: isAsked ? all(notChecked('the bundle has no log proof')) : null }
  }
  const proof = readLogProof(log)
  if (typeof proof === 'string') return { ...NOTHING, facts: all(failed(proof)) }
  const { checkpoint } = proof
  const named = [...pinnedLogs, ...(policy?.logs ?? []).map(({ key }) => key)]
  const judged = policy ? judge(policy, checkpoint) : null
  const { fact: log_anchored, transaction } = await logAnchored(question, checkpoint)
  const isPublished = log_anchored.value === 'passed' && notInTree(proof, envelope) === null
  return {
    facts: {
      log_included: logIncluded(proof, envelope, named.length > 0 ? named : (listed?.logs ?? [])),
      log_cosigned: logCosigned(policy, judged),
      log_anchored,
    },
    report: {
      origin: checkpoint.origin,
      index: proof.index,
      size: checkpoint.size,
      cosigned: (judged?.cosignatures ?? []).map(({ key, time }) => ({ name: key.name, time })),
    },
    transaction,
    anchoredAt: isPublished ? (transaction?.blockTime ?? null) : null,
  }
}

const NOTHING = { report: null, transaction: null, anchoredAt: null }

function all(fact: Fact): LogFacts {
  return { log_included: fact, log_cosigned: fact, log_anchored: fact }
}

/** The proof, or its problem. */
export function readLogProof(log: Json): LogProof | string {
  if (!isObject(log)) return 'log is not an object'
  return typeof log.proof === 'string' ? readProof(log.proof) : 'log.proof is not a string'
}

/** Why the proof does not include the statement, or null. The signature of the checkpoint is not verified. */
export function notInTree(proof: LogProof, envelope: EvidenceEnvelope | null): string | null {
  const entry = envelope && fromHex(envelope.statement_digest)
  if (!entry) return 'the bundle has no statement that can be in a log'
  return isProvenEntry(proof, entry) ? null : 'the proof does not lead from the statement to the root of the checkpoint'
}

function logIncluded(proof: LogProof, envelope: EvidenceEnvelope | null, logs: readonly NoteKey[]): Fact {
  const problem = notInTree(proof, envelope)
  if (problem !== null) return failed(problem)
  if (logs.length === 0) return notChecked('the proof is valid, but no key of a log was given')
  const { origin, note } = proof.checkpoint
  const isSigned = logs.some((key) => key.name === origin && isSignedBy(note, key))
  return passedUnless(isSigned ? null : 'none of the given logs has signed the checkpoint')
}

function logCosigned(policy: Policy | undefined, judged: Judgement | null): Fact {
  if (!policy || !judged) return notChecked('no policy was given')
  if (policy.quorum === null) return notChecked('the policy requires no witness')
  const { length } = judged.cosignatures
  return passedUnless(
    judged.isQuorum
      ? null
      : `${length} of ${policy.witnesses.length} witnesses cosigned, which does not satisfy the quorum of the policy`,
  )
}

async function logAnchored(
  { log, rpc, pinnedSigners }: LogQuestion,
  checkpoint: Checkpoint,
): Promise<{ fact: Fact; transaction: AnchorTransaction | null }> {
  const without = (fact: Fact) => ({ fact, transaction: null })
  const { anchor = null } = log as JsonObject // it has a proof
  if (anchor === null) return without(notChecked('the checkpoint has no anchor'))
  if (!isObject(anchor)) return without(failed('log.anchor is not an object'))
  const memo = logAnchorMemo(logAnchorPayload(checkpoint))
  if (!hasCanonicalBytes(anchor.payload, memo)) return without(failed('log.anchor publishes another checkpoint'))
  if (!rpc) return without(notChecked('no node was asked'))
  const mismatch = await wrongChain(rpc, anchor)
  if (mismatch) return without(unavailable(mismatch))
  const answer = await findTransaction(rpc, anchor)
  if ('unavailable' in answer) return without(unavailable(answer.unavailable))
  if ('notFound' in answer) return without(failed(answer.notFound))
  const transaction = answer.found
  const fact = worst([
    txSucceeded(transaction),
    signerMatches(anchor, transaction, pinnedSigners),
    passedUnless(hasMemo(transaction, memo) ? null : 'no memo of the transaction is the payload of the checkpoint'),
    slotMatches(anchor, transaction),
    finalized(anchor, transaction),
  ])
  return { fact, transaction }
}

function worst(facts: readonly Fact[]): Fact {
  return facts.find(({ value }) => value === 'failed') ?? facts.find(({ value }) => value !== 'passed') ?? PASSED
}
