// The calls to a node of an EVM chain for payments.

import { type Ask, askInBatches } from '../json-rpc.ts'
import { balanceOf, DECIMALS, readBalance, readDecimals, readSymbol, SYMBOL } from './erc20.ts'
import type { Hex } from './evm-hex.ts'

export interface EvmCall {
  to: Hex
  value: bigint
  data: Hex
}

type BlockTag = 'latest' | 'pending' | 'finalized'

interface Block {
  number: bigint
  baseFeePerGas: bigint | null
}

export interface EvmToken {
  symbol: string
  decimals: number
  /** The balance of the owner. */
  balance: bigint
}

export type EvmNode = ReturnType<typeof connectEvm>

export function connectEvm(rpcUrl: string) {
  const ask = askInBatches(rpcUrl)
  const number = async (method: string, ...params: unknown[]) => quantity(await ask(method, params))
  const call = async (to: string, data: Hex) => String(await ask('eth_call', [{ to, data }, 'latest']))

  async function block(which: BlockTag | bigint): Promise<Block | null> {
    const name = typeof which === 'bigint' ? hex(which) : which
    const found = (await ask('eth_getBlockByNumber', [name, false])) as Record<string, unknown> | null
    if (!found) return null
    const { number, baseFeePerGas } = found
    return { number: quantity(number), baseFeePerGas: baseFeePerGas == null ? null : quantity(baseFeePerGas) }
  }

  return {
    block,
    chainId: () => number('eth_chainId'),
    blockNumber: () => number('eth_blockNumber'),
    balance: (owner: string) => number('eth_getBalance', owner, 'latest'),
    nonce: async (owner: string, at: BlockTag) => Number(await number('eth_getTransactionCount', owner, at)),
    fees: () => fees(ask, block),

    gas: (from: string, { to, value, data }: EvmCall) =>
      number('eth_estimateGas', { from, to, value: hex(value), data }),

    async send(raw: string): Promise<void> {
      await ask('eth_sendRawTransaction', [raw])
    },

    /** Null if the transaction is in no block. */
    async receipt(tx: string): Promise<{ isSuccess: boolean; blockNumber: bigint } | null> {
      const found = (await ask('eth_getTransactionReceipt', [tx])) as Record<string, unknown> | null
      if (found && String(found.transactionHash).toLowerCase() !== tx.toLowerCase())
        throw new Error('the node returned the receipt of another transaction')
      return found && { isSuccess: quantity(found.status) === 1n, blockNumber: quantity(found.blockNumber) }
    },

    /** The symbol, decimals and balance that the contract returns. */
    async token(contract: string, owner: string): Promise<EvmToken> {
      const [symbol, decimals, balance] = await Promise.all([
        call(contract, SYMBOL).then(readSymbol),
        call(contract, DECIMALS).then(readDecimals),
        call(contract, balanceOf(owner)).then(readBalance),
      ])
      // Tether writes ₮ in its symbols, while tickers have a T.
      return { symbol: symbol.replaceAll('₮', 'T'), decimals: Number(decimals), balance }
    },
  }
}

/** Fees that get a transaction into one of the next blocks even if the base fee rises a little. */
async function fees(ask: Ask, block: (which: BlockTag) => Promise<Block | null>) {
  const [latest, suggested] = await Promise.all([
    block('latest'),
    // Not every node has eth_maxPriorityFeePerGas.
    ask('eth_maxPriorityFeePerGas', []).catch(() => null),
  ])
  const base = latest?.baseFeePerGas
  if (base == null) throw new Error('the chain has no base fee')
  const maxPriorityFeePerGas =
    suggested === null ? aboveBase(quantity(await ask('eth_gasPrice', [])), base) : quantity(suggested)
  return { maxFeePerGas: (base * 12n + 9n) / 10n + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

function aboveBase(price: bigint, base: bigint): bigint {
  return price > base ? price - base : 0n
}

function hex(value: bigint): Hex {
  return `0x${value.toString(16)}`
}

function quantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value)
  throw new Error('the node did not return a number')
}
