// Declares a second network of each family. Must be imported before anything that reads the declarations.

import { ASSETS, type Asset, findAsset } from '@svc/api/assets'
import { EVM, evmNetwork, NETWORKS, type Network, PRIMARY, solanaNetwork } from '@svc/api/networks'

export const BASE = evmNetwork({
  settings: 'BASE',
  name: 'base-mainnet',
  olderNames: ['base-sepolia'],
  title: 'Base',
  usualFee: '0.001',
  explorer: 'https://basescan.org/tx/',
  chainId: 8453,
  publicNode: 'https://mainnet.base.org',
})

export const ECLIPSE = solanaNetwork({
  settings: 'ECLIPSE',
  name: 'eclipse-mainnet',
  olderNames: [],
  title: 'Eclipse',
  usualFee: '0.001',
  explorer: 'https://eclipsescan.xyz/tx/',
  genesisHash: 'EAQLJCV2mh23BsK2P9oYpV5CHVLDNHTxYss3URrNmg3s',
  walletChain: 'eclipse:mainnet',
})

const USD = { by: 'usd' } as const
/** Their price is already declared. */
const { pricing: ETH } = findAsset(EVM, 'WETH') as Asset
const { address: mint } = findAsset(PRIMARY, 'USDC') as Asset

const ADDED: readonly Asset[] = [
  { network: BASE, ticker: 'ETH', decimals: 18, pricing: ETH, address: BASE.nativeAsset },
  { network: BASE, ticker: 'USDC', decimals: 6, pricing: USD, address: `0x${'ba'.repeat(20)}`, domainVersion: '2' },
  { network: ECLIPSE, ticker: 'GAS', decimals: 9, pricing: ETH, address: ECLIPSE.nativeAsset },
  { network: ECLIPSE, ticker: 'USDC', decimals: 6, pricing: USD, address: mint },
]

// Has the same effect as a change of the declarations.
const networks = NETWORKS as Network[]
const assets = ASSETS as unknown as Asset[]
networks.push(BASE, ECLIPSE)
assets.push(...ADDED)
