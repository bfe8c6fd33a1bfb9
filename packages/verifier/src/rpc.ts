// Queries to a node of the primary chain. A node can be down, lie, or answer nonsense: each answer is checked before
// use, and an unreadable one counts as no answer.

import { fromBase64 } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { isObject, printable } from './untrusted.ts'
import { readWireTransaction, type WireTransaction } from './wire-transaction.ts'

/**
 * Returns the `result` of a JSON-RPC call, and throws if there is none. The function must implement its own timeout.
 */
export type Rpc = (method: string, params: readonly Json[]) => Promise<unknown>

export type Answer<T> = { found: T } | { found: null } | { unavailable: string }

/** `read` returns null for an unusable result. */
async function ask<T>(
  rpc: Rpc,
  method: string,
  params: readonly Json[],
  read: (result: Json) => Answer<T> | null,
): Promise<Answer<T>> {
  try {
    // Copy it to plain data, in which no getter can throw or change values.
    const result = JSON.parse(JSON.stringify(await rpc(method, params), plainNumber)) as Json
    return read(result) ?? { unavailable: `the node's answer to ${method} is invalid` }
  } catch (error) {
    return { unavailable: `the node does not answer ${method}: ${printable(messageOf(error), 200)}` }
  }
}

/** Nodes also send numbers beyond the safe integers, which some callers read as bigints; no fact depends on those. */
function plainNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

/** A thrown value can be anything, even an object that cannot be converted to text. */
function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error === 'string' ? error : 'it failed'
}

type Commitment = 'confirmed' | 'finalized'

export function askGenesisHash(rpc: Rpc): Promise<Answer<string>> {
  return ask(rpc, 'getGenesisHash', [], (result) => (typeof result === 'string' ? { found: result } : null))
}

export interface Account {
  owner: string
  data: Uint8Array
}

/** `found` is null if there is no such account. */
export function askAccount(rpc: Rpc, address: string): Promise<Answer<Account>> {
  return ask(rpc, 'getAccountInfo', [address, { encoding: 'base64', commitment: 'confirmed' }], (result) => {
    const value = isObject(result) ? result.value : undefined
    if (value === null) return { found: null }
    const { owner, data } = isObject(value) ? value : {}
    const bytes = readBase64(data)
    return bytes && typeof owner === 'string' ? { found: { owner, data: bytes } } : null
  })
}

const MAX_BASE64_LENGTH = 64 * 1024

/** Decodes bytes in the form of nodes: `[text, "base64"]`. */
function readBase64(value: Json | undefined): Uint8Array | null {
  if (!Array.isArray(value)) return null
  const [text, encoding] = value as readonly Json[]
  if (typeof text !== 'string' || text.length > MAX_BASE64_LENGTH || encoding !== 'base64') return null
  return fromBase64(text)
}

/**
 * The transaction of an anchor. Its content and signers do not depend on trust in the node, because its bytes are
 * decoded and its signatures verified here. Its success, slot, fee and finality are claims of the node.
 */
export interface AnchorTransaction extends WireTransaction {
  slot: number
  blockTime: number | null
  feeLamports: number
  /** Null if the transaction succeeded. */
  error: Json
  isFinal: boolean
}

/** `found` is null if the node does not know the transaction. */
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
  const { err: error, fee: feeLamports } = meta
  if (!wire || typeof slot !== 'number' || (blockTime !== null && typeof blockTime !== 'number')) return null
  if (error === undefined || typeof feeLamports !== 'number') return null
  return { ...wire, slot, blockTime, feeLamports, error }
}
