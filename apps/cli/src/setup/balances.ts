// The balances of a wallet in well-known assets, read from a node of its chain.

import { jsonRpc } from '@svc/sdk/json-rpc'
import { amountText, KNOWN_ASSETS, type KnownAsset } from '@svc/sdk/money'
import { nodeNetwork } from '@svc/sdk/node'
import { Failure } from '../errors.ts'
import { shown } from '../output/shown.ts'
import type { Key } from './wallet.ts'

export interface Balance {
  asset: string
  amount: string
}

const TIMEOUT_MS = 10_000
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** The balances, the chain's own coin first. Assets with a zero balance are left out, except the coin. */
export async function readBalances(
  { namespace, address }: Pick<Key, 'namespace' | 'address'>,
  rpcUrl: string,
  signal: AbortSignal,
  commitment: 'processed' | 'confirmed' = 'confirmed',
): Promise<Balance[]> {
  const options = { signal, timeoutMs: TIMEOUT_MS }
  const ask = jsonRpc(rpcUrl, options)
  try {
    const assets = knownOn(namespace, await nodeNetwork(namespace, rpcUrl, options))
    const amounts = namespace === 'solana' ? await solanaAmounts(assets) : await evmAmounts(assets)
    const shownAssets = assets.filter(({ address: asset }, i) => i === 0 || (amounts.get(asset) ?? 0n) > 0n)
    return shownAssets.map(({ ticker, decimals, address: asset }) => ({
      asset: ticker,
      amount: amountText(amounts.get(asset) ?? 0n, decimals),
    }))
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure(`${new URL(rpcUrl).host} did not return the balance: ${shown(String((error as Error).message))}`)
  }

  async function solanaAmounts([coin]: KnownAssets): Promise<Map<string, bigint>> {
    const config = { encoding: 'jsonParsed', commitment }
    const [lamports, accounts] = (await Promise.all([
      ask('getBalance', [address, { commitment }]),
      ask('getTokenAccountsByOwner', [address, { programId: TOKEN_PROGRAM }, config]),
    ])) as [{ value: number }, { value: { account: { data: { parsed: { info: TokenInfo } } } }[] }]
    const amounts = new Map([[coin.address, BigInt(lamports.value)]])
    for (const { account } of accounts.value) {
      const { mint, tokenAmount } = account.data.parsed.info
      amounts.set(mint, (amounts.get(mint) ?? 0n) + BigInt(tokenAmount.amount))
    }
    return amounts
  }

  async function evmAmounts([coin, ...tokens]: KnownAssets): Promise<Map<string, bigint>> {
    const balanceOf = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
    const questions = [
      ask('eth_getBalance', [address, 'latest']),
      ...tokens.map(({ address: to }) => ask('eth_call', [{ to, data: balanceOf }, 'latest'])),
    ]
    const answers = await Promise.all(questions)
    return new Map([coin, ...tokens].map((asset, i) => [asset.address, quantity(answers[i])]))
  }
}

type KnownAssets = readonly [coin: KnownAsset, ...tokens: KnownAsset[]]

/** On an unknown chain of the namespace, the assets of the first network: their addresses may exist there, too. */
function knownOn(namespace: Key['namespace'], own: string): KnownAssets {
  const assets = KNOWN_ASSETS.filter(({ network }) => network.startsWith(`${namespace}:`))
  const [first] = assets
  const network = assets.some((asset) => asset.network === own) ? own : first?.network
  return assets.filter((asset) => asset.network === network) as unknown as KnownAssets // a network has a coin
}

interface TokenInfo {
  mint: string
  tokenAmount: { amount: string }
}

/** A missing contract returns an empty answer. */
function quantity(hex: unknown): bigint {
  return hex === '0x' ? 0n : BigInt(String(hex))
}
