// The transaction that an anchor names, as a node has it. What it says and who signed it does not rest on the node: its
// bytes are read here and its signatures verified. That it succeeded, where and how finally, is the node's word.

import type { Json } from '@svc/protocol/canonical'
import { type Answer, ask, type Commitment, type Rpc, readBase64 } from './rpc.ts'
import { isObject } from './strict.ts'
import { readWireTransaction, type WireTransaction } from './wire-transaction.ts'

export interface AnchorTransaction extends WireTransaction {
  slot: number
  blockTime: number | null
  /** What went wrong; null of a transaction that succeeded. */
  error: Json
  isFinal: boolean
}

/** Null: the node knows of none. */
export async function askTransaction(rpc: Rpc, id: string): Promise<Answer<AnchorTransaction>> {
  const finalized = await askAt(rpc, id, 'finalized')
  return 'found' in finalized && finalized.found === null ? askAt(rpc, id, 'confirmed') : finalized
}

function askAt(rpc: Rpc, id: string, commitment: Commitment): Promise<Answer<AnchorTransaction>> {
  const options = { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return ask(rpc, 'getTransaction', [id, options], (result) => {
    if (result === null) return { found: null }
    const transaction = readTransaction(result)
    if (transaction?.id !== id) return null
    return { found: { ...transaction, isFinal: commitment === 'finalized' } }
  })
}

function readTransaction(result: Json): Omit<AnchorTransaction, 'isFinal'> | null {
  if (!isObject(result) || !isObject(result.meta)) return null
  const { slot, blockTime = null, meta } = result
  const bytes = readBase64(result.transaction)
  const wire = bytes && readWireTransaction(bytes)
  if (!wire || typeof slot !== 'number' || (blockTime !== null && typeof blockTime !== 'number')) return null
  return meta.err === undefined ? null : { ...wire, slot, blockTime, error: meta.err }
}
