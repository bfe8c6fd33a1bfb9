import { createClient, encodeFunctionData, erc20Abi, type Hex, http } from 'viem'
import { NodeProblem } from '../ask-nodes.ts'
import { type BalanceReader, createBalanceReader } from '../balances.ts'
import { EVM } from '../networks.ts'
import type { Destination } from '../payment.ts'
import { quantity } from './rpc-values.ts'

type AnyCall = { Method: string; Parameters: unknown[]; ReturnType: unknown }

export function createEvmBalanceReader(rpcUrls: readonly string[]): BalanceReader {
  return createBalanceReader(rpcUrls, readBalances)
}

async function readBalances(url: string, destinations: readonly Destination[], signal: AbortSignal) {
  const client = createClient({ transport: http(url, { retryCount: 0, timeout: 0 }) })
  const ask = async (method: string, params: unknown[]) =>
    quantity(await client.request<AnyCall>({ method, params }, { signal }))
  if ((await ask('eth_chainId', [])) !== BigInt(EVM.chainId)) throw new NodeProblem('a node of another chain')
  return Promise.all(
    destinations.map(({ asset, payTo }) => {
      if (asset === EVM.nativeAsset) return ask('eth_getBalance', [payTo, 'latest'])
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [payTo as Hex] })
      // The node answers: what fails now is this one contract.
      return ask('eth_call', [{ to: asset, data }, 'latest']).catch(() => null)
    }),
  )
}
