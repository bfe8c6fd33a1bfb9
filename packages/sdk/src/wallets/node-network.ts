import { type JsonRpcOptions, jsonRpc } from '../json-rpc.ts'
import type { Wallet } from './wallet.ts'

/** The CAIP-2 id of a node's chain. */
export async function nodeNetwork(
  namespace: Wallet['namespace'],
  rpcUrl: string,
  options: JsonRpcOptions,
): Promise<string> {
  const ask = jsonRpc(rpcUrl, options)
  if (namespace === 'eip155') return `eip155:${Number(await ask('eth_chainId', []))}`
  return `solana:${String(await ask('getGenesisHash', [])).slice(0, 32)}`
}
