import { type Address, address } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { devKey } from './dev-key.ts'

export const FAUCET = devKey('svc-dev/faucet')
export const MINT_AUTHORITY = devKey('svc-dev/mint-authority')
export const TREASURY = devKey('svc-dev/treasury')
/** Where the agent service is paid: never where the gateway is, or one payment would buy from both. */
export const AGENT_TREASURY = devKey('svc-dev/agent-treasury')
export const PUBLICATION = devKey('svc-dev/publication')
export const DEMO_PAYERS = [1, 2, 3, 4].map((number) => devKey(`svc-dev/payer/${number}`))

/** The mints of mainnet at their own addresses, so that a gateway's default assets are the same in development. */
export const MINTS = {
  USDC: { mint: address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'), decimals: 6 },
  USDT: { mint: address('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'), decimals: 6 },
  WETH: { mint: address('7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'), decimals: 8 },
  BETA: { mint: devKey('svc-dev/mint/BETA').address, decimals: 0 },
} as const

export type TokenAsset = keyof typeof MINTS
export const TOKEN_ASSETS = Object.keys(MINTS) as TokenAsset[] // Object.keys forgets the literal type

/** Mainnet's: `solana:` and its first 32 characters are the CAIP-2 id that the gateway uses. */
export const GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

/** The associated token account of `owner` for one of our assets. */
export async function tokenAccountOf(owner: Address, asset: TokenAsset): Promise<Address> {
  const [tokenAccount] = await findAssociatedTokenPda({
    owner,
    mint: MINTS[asset].mint,
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return tokenAccount
}
