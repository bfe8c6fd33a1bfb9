// The plain anchored bundle with nodes that answer correctly, wrongly and not at all.

import { ANCHORED, GIVEN, memo, plain, SILENT } from './anchor-parts.ts'
import type { Case, Facts, RpcAnswer } from './case.ts'
import type { Json } from './formats.ts'
import {
  genesis,
  known,
  SLOT,
  transactionAnswer,
  transactionError,
  transactionOf,
  transactionResult,
  young,
} from './transactions.ts'

function node(name: string, what: string, rpc: RpcAnswer[], expect: Facts): Case {
  return { name: `node-${name}`, of: 'anchor-memo', what, given: GIVEN, rpc, expect }
}

const NO_TX: Facts = { ...SILENT, anchor_tx_succeeded: 'failed' }
const failure = { InstructionError: [0, { Custom: 6 }] }
const unsigned = Buffer.from(plain.base64, 'base64')
unsigned[unsigned.length - 1] = (unsigned.at(-1) as number) ^ 1
const other = transactionOf({ instructions: [memo('another')] })
const answered = (result: Json) => [genesis(), transactionAnswer(plain.id, 'finalized', result)]

export const NODES: Case[] = [
  node('not-final', 'confirmed, not final, and claimed to be final', young(plain), {
    ...ANCHORED,
    anchor_finalized: 'failed',
  }),
  node('tx-failed', 'the transaction failed', known(plain, {}, { err: failure, status: { Err: failure } }), {
    ...ANCHORED,
    anchor_tx_succeeded: 'failed',
  }),
  node('other-slot', 'the node has it in another slot', known(plain, { slot: SLOT + 1 }), {
    ...ANCHORED,
    anchor_slot_matches: 'failed',
  }),
  node('no-time', 'the node has no block time', known(plain, { blockTime: null }), ANCHORED),
  node(
    'not-found',
    'the node knows no such transaction',
    [...answered(null), transactionAnswer(plain.id, 'confirmed', null)],
    NO_TX,
  ),
  node('down', 'no answer at all', [], { ...SILENT, registry_matches: 'unavailable' }),
  node('down-later', 'no answer about the transaction', [genesis()], SILENT),
  node('error', 'an error', [genesis(), transactionError(plain.id, 'finalized')], SILENT),
  node('other-chain', 'a node of another chain', [genesis('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')], {
    ...SILENT,
    registry_matches: 'unavailable',
  }),
  node('nonsense', 'a string instead of a transaction', answered('ok'), SILENT),
  node('no-meta', 'a transaction without its outcome', answered({ ...transactionResult(plain), meta: null }), SILENT),
  node('no-slot', 'a transaction without slot', answered({ ...transactionResult(plain), slot: null }), SILENT),
  node(
    'not-base64',
    'bytes in no encoding',
    answered({ ...transactionResult(plain), transaction: ['???', 'base64'] }),
    SILENT,
  ),
  node(
    'cut-short',
    'a transaction cut short',
    answered({ ...transactionResult(plain), transaction: [plain.base64.slice(0, 200), 'base64'] }),
    SILENT,
  ),
  node('other-tx', 'a transaction other than the requested one', answered(transactionResult(other)), SILENT),
  node(
    'wrong-signature',
    'the transaction with a byte changed, under its signature',
    answered({ ...transactionResult(plain), transaction: [unsigned.toString('base64'), 'base64'] }),
    SILENT,
  ),
]
