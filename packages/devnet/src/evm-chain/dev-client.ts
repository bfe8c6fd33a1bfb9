import { createClient, defineChain, type Hash, http, publicActions, testActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { CHAIN_ID, type DevAccount } from './dev-accounts.ts'

type Faucet = { Method: 'dev_faucet'; Parameters: unknown[]; ReturnType: Hash }

/** A stock viem client that reads, signs for one account, and controls the chain (mine, setNextBlockTimestamp, …). */
export function connectAs(account: DevAccount, url: string) {
  return createClient({
    account: privateKeyToAccount(account.privateKey),
    chain: viemChain(url),
    transport: http(),
    // By default viem may return the block number of four seconds ago.
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'hardhat' }))
    .extend((client) => ({
      /** Params are those of dev_faucet: address, asset, amount in display units. */
      faucet: (...params: unknown[]) => client.request<Faucet>({ method: 'dev_faucet', params }),
    }))
}

export type DevClient = ReturnType<typeof connectAs>

function viemChain(url: string) {
  return defineChain({
    id: CHAIN_ID,
    name: 'Local EVM',
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
}
