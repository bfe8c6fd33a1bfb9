import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import { type Address, address, getAddressDecoder } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { ASSETS, type Asset, isCoin, type TickerOn } from '@svc/api/assets'
import { PRIMARY } from '@svc/api/networks'

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key that everybody knows: its seed is the SHA-256 of its label. Never fund one on a public chain. */
export interface DevKey {
  readonly address: Address
  /** The 32-byte Ed25519 seed, as `createKeyPairSignerFromPrivateKeyBytes` takes it. */
  readonly privateKeyBytes: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

export const FAUCET = devKey('svc-dev/faucet')
export const MINT_AUTHORITY = devKey('svc-dev/mint-authority')
export const TREASURY = devKey('svc-dev/treasury')
/** The agent service's treasury is not the gateway's, or one payment could buy from both. */
export const AGENT_TREASURY = devKey('svc-dev/agent-treasury')
export const PUBLICATION = devKey('svc-dev/publication')
export const DEMO_PAYERS = [1, 2, 3, 4].map((number) => devKey(`svc-dev/payer/${number}`))

/** Mainnet's mints at their own addresses, so that a gateway's default assets work in development. */
const TOKENS: readonly Asset[] = ASSETS.filter((asset) => asset.network === PRIMARY && !isCoin(asset))

export type TokenAsset = Exclude<TickerOn<'solana'>, 'SOL'>
export const TOKEN_ASSETS = TOKENS.map(({ ticker }) => ticker as TokenAsset) // they are of `ASSETS`

export const MINTS = Object.fromEntries(
  TOKENS.map(({ ticker, address: own, decimals }) => {
    const mint = typeof own === 'string' ? address(own) : devKey(`svc-dev/mint/${ticker}`).address
    return [ticker, { mint, decimals }]
  }),
) as Readonly<Record<TokenAsset, { mint: Address; decimals: number }>> // fromEntries returns plain strings

/** Mainnet's. */
export const GENESIS_HASH = PRIMARY.genesisHash

/** The associated token account of `owner` for one of our assets. */
export async function tokenAccountOf(owner: Address, asset: TokenAsset): Promise<Address> {
  const [tokenAccount] = await findAssociatedTokenPda({
    owner,
    mint: MINTS[asset].mint,
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return tokenAccount
}

function devKey(label: string): DevKey {
  const privateKeyBytes = new Uint8Array(hash('sha256', label, 'buffer'))
  const key = ed25519Key(privateKeyBytes)
  return {
    address: addressOf(key),
    privateKeyBytes,
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}

function ed25519Key(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
}

function addressOf(key: KeyObject): Address {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return getAddressDecoder().decode(spki.subarray(-32))
}
