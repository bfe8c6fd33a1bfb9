// The facts that a node of the chain must help with.
//
// `failed` is what the node's answer contradicts, and a transaction that it does not know: an anchor nobody can find
// must not count as unchecked, though a node that forgets old blocks gives the same answer. `unavailable` is what no
// answer was had for: a node that is down, babbles, is of another chain, or sent bytes that are not the transaction
// asked for. `not_checked` is what there was nothing to ask about.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { type AnchorQuestion, anchorFacts } from './anchor-facts.ts'
import { askTransaction } from './anchor-transaction.ts'
import { type Fact, failed, notChecked, type OnlineFacts, unavailable } from './facts.ts'
import { registryMatches } from './registry-fact.ts'
import { askGenesisHash, type Rpc } from './rpc.ts'
import type { JsonObject } from './strict.ts'
import { isTransactionId } from './wire-transaction.ts'

const ANCHOR_TYPES = ['chain_sas_v1', 'chain_memo_v2', 'oracle_v2']

export async function onlineFacts(
  rpc: Rpc | undefined,
  anchor: JsonObject | null,
  envelope: EvidenceEnvelope | null,
  pinnedSigners: readonly string[],
): Promise<OnlineFacts> {
  if (!anchor) return all(notChecked('the bundle has no anchor'))
  if (!rpc) return all(notChecked('no node was asked'))
  if (!ANCHOR_TYPES.includes(anchor.type as string)) return all(notChecked('an anchor of a type that is not known'))
  const stranger = await wrongChain(rpc, anchor)
  if (stranger) return all(unavailable(stranger))
  return {
    ...(await transactionFacts(rpc, { anchor, envelope, pinnedSigners })),
    registry_matches: await registryMatches(rpc, anchor, envelope),
  }
}

async function transactionFacts(rpc: Rpc, question: AnchorQuestion) {
  const { tx } = question.anchor
  if (typeof tx !== 'string' || !isTransactionId(tx)) return notFound('anchor.tx is not a transaction')
  const answer = await askTransaction(rpc, tx)
  if ('unavailable' in answer) return all(unavailable(answer.unavailable))
  if (!answer.found) return notFound('the node knows no such transaction')
  return anchorFacts(question, answer.found)
}

/** CAIP-2: a chain of this family is named by the first 32 characters of its genesis hash. */
async function wrongChain(rpc: Rpc, { chain }: JsonObject): Promise<string | null> {
  const answer = await askGenesisHash(rpc)
  if ('unavailable' in answer) return answer.unavailable
  return chain === `solana:${answer.found?.slice(0, 32)}` ? null : 'the node is of another chain than the anchor'
}

function notFound(why: string): OnlineFacts {
  return { ...all(unavailable('there is no transaction to look at')), anchor_tx_succeeded: failed(why) }
}

function all(fact: Fact): OnlineFacts {
  return {
    anchor_tx_succeeded: fact,
    anchor_signer_matches: fact,
    anchor_payload_matches: fact,
    anchor_slot_matches: fact,
    anchor_finalized: fact,
    registry_matches: fact,
  }
}
