import { address } from '@solana/kit'
import { getMintDecoder, getMintSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { SolanaNetwork } from '@svc/api/networks'
import type { ReadDecimals } from '../decimals.ts'
import { connectSolana } from './nodes.ts'

const TIMEOUT_MS = 10_000
const OPTIONS = { encoding: 'base64', commitment: 'confirmed' } as const

export function createSolanaDecimalsReader(
  network: SolanaNetwork,
  rpcUrls: readonly string[],
  quorum = 1,
): ReadDecimals {
  const pool = connectSolana(network, rpcUrls, { timeoutMs: TIMEOUT_MS, quorum })
  return (tokens) =>
    pool.agree(async (rpc, abortSignal) => {
      const mints = tokens.map((token) => address(token))
      const { value } = await rpc.getMultipleAccounts(mints, OPTIONS).send({ abortSignal })
      return mints.map((_, i) => decimalsOf(value[i] ?? null))
    })
}

/** A token account belongs to the same program, but has another size. */
function decimalsOf(account: { owner: string; data: readonly [string, string] } | null): number | null {
  if (account?.owner !== TOKEN_PROGRAM_ADDRESS) return null
  const data = Buffer.from(account.data[0], 'base64')
  return data.length === getMintSize() ? getMintDecoder().decode(data).decimals : null
}
