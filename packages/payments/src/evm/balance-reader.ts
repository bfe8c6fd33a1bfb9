import { type EvmNetwork, NATIVE_ASSETS } from '@svc/api/networks'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { type BalanceReader, createBalanceReader } from '../balance-reader.ts'
import type { Destination } from '../payment.ts'
import { connectEvm, type EvmRpc } from './nodes.ts'
import { quantity } from './rpc-answers.ts'

export function createEvmBalanceReader(network: EvmNetwork, rpcUrls: readonly string[], quorum = 1): BalanceReader {
  return createBalanceReader(connectEvm(network, rpcUrls, { quorum }), readBalances)
}

function readBalances(rpc: EvmRpc, destinations: readonly Destination[], signal: AbortSignal) {
  const ask = async (method: string, params: unknown[]) => quantity(await rpc(method, params, signal))
  return Promise.all(
    destinations.map(({ asset, payTo }) => {
      if (asset === NATIVE_ASSETS.evm) return ask('eth_getBalance', [payTo, 'latest'])
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [payTo as Hex] })
      // The node answers, so a failure now concerns this one contract.
      return ask('eth_call', [{ to: asset, data }, 'latest']).catch(() => null)
    }),
  )
}
