// The groups of requests that the chain handles differently.

import { numberToHex } from 'viem'

/** Requests that change the chain: executed one at a time and recorded in the journal. */
export const CHANGES: ReadonlySet<string> = new Set([
  'eth_sendRawTransaction',
  'eth_sendTransaction',
  'evm_mine',
  'evm_revert',
  'evm_setAutomine',
  'evm_setBlockGasLimit',
  'evm_snapshot',
  'hardhat_dropTransaction',
  'hardhat_impersonateAccount',
  'hardhat_mine',
  'hardhat_setBalance',
  'hardhat_setCode',
  'hardhat_setCoinbase',
  'hardhat_setMinGasPrice',
  'hardhat_setNextBlockBaseFeePerGas',
  'hardhat_setNonce',
  'hardhat_setPrevRandao',
  'hardhat_setStorageAt',
  'hardhat_stopImpersonatingAccount',
])

/** Requests that give the chain a transaction. */
export const SENDS: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'eth_sendTransaction'])

/** Requests that run code without changing the chain. */
export const CALLS: ReadonlySet<string> = new Set(['eth_call', 'eth_estimateGas'])

/** Requests that would make or drop blocks without the journal, and what to do instead. */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ['evm_setIntervalMining', 'mine with evm_mine or hardhat_mine'],
  ['hardhat_reset', 'start another chain'],
])

/**
 * EDR calls its newest block final. With a depth, `finalized` means that many blocks below the head and `safe` one
 * below, as chain 143 distinguishes proposed, voted and finalized blocks. For a node that is behind, the head is not
 * EDR's.
 */
export function resolveTags(
  params: readonly unknown[],
  head: number,
  depth: number,
  isBehind = false,
): readonly unknown[] {
  if (depth === 0 && !isBehind) return params
  return params.map((param) => {
    if (typeof param === 'string') return resolve(param)
    if (typeof param !== 'object' || param === null || Array.isArray(param)) return param
    return Object.fromEntries(
      Object.entries(param).map(([key, value]) => [key, key.endsWith('Block') ? resolve(value) : value]),
    )
  })

  function resolve(tag: unknown): unknown {
    if (tag === 'finalized') return numberToHex(Math.max(0, head - depth))
    if (tag === 'safe') return numberToHex(Math.max(0, head - Math.min(1, depth)))
    if (isBehind && (tag === 'latest' || tag === 'pending')) return numberToHex(head)
    return tag
  }
}
