import { type Address, erc20Abi, type PublicClient } from 'viem'

export interface EvmToken {
  symbol: string
  decimals: number
  /** What its owner has of it. */
  held: bigint
}

/** What the contract says of itself; the questions go out in one batch. */
export async function evmToken(node: PublicClient, address: Address, owner: Address): Promise<EvmToken> {
  const contract = { address, abi: erc20Abi } as const
  const [symbol, decimals, held] = await Promise.all([
    node.readContract({ ...contract, functionName: 'symbol' }),
    node.readContract({ ...contract, functionName: 'decimals' }),
    node.readContract({ ...contract, functionName: 'balanceOf', args: [owner] }),
  ])
  // Tether writes itself with a sign of its own, where tickers have a T.
  return { symbol: symbol.replaceAll('₮', 'T'), decimals, held }
}
