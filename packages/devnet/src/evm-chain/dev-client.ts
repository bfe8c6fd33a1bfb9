import { EVM, type EvmNetwork } from '@svc/api/networks'
import { createClient, defineChain, type Hash, http, publicActions, testActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { DevAccount } from './dev-accounts.ts'
import { coinGrant } from './faucet.ts'

type Faucet = { Method: 'dev_faucet'; Parameters: unknown[]; ReturnType: Hash }

/** More polls than any transaction needs to land. */
const MAX_POLLS = 10

/**
 * A stock viem client that reads, signs for one account, and controls the chain (mine, setNextBlockTimestamp, …). It
 * waits until what it sends has landed, as a wallet does.
 */
export function connectAs(account: DevAccount, url: string, network: EvmNetwork = EVM) {
  return createClient({
    account: privateKeyToAccount(account.privateKey),
    chain: viemChain(url, network),
    transport: http(),
    // By default viem asks every four seconds, and may return the block number of four seconds ago.
    pollingInterval: 5,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'hardhat' }))
    .extend((client) => {
      async function landed(sending: Promise<Hash>): Promise<Hash> {
        const hash = await sending
        for (let asked = 0; asked < MAX_POLLS; asked++)
          if (await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })) break
        return hash
      }
      const { sendTransaction, writeContract, deployContract } = client
      return {
        sendTransaction: ((request) => landed(sendTransaction(request))) as typeof sendTransaction,
        writeContract: ((request) => landed(writeContract(request))) as typeof writeContract,
        deployContract: ((request) => landed(deployContract(request))) as typeof deployContract,
        /** Params are those of dev_faucet: address, asset, amount in display units. */
        faucet: (...params: unknown[]) => client.request<Faucet>({ method: 'dev_faucet', params }),
      }
    })
}

export type DevClient = ReturnType<typeof connectAs>

function viemChain(url: string, network: EvmNetwork) {
  const { ticker, decimals } = coinGrant(network)
  return defineChain({
    id: network.chainId,
    name: 'Local EVM',
    nativeCurrency: { name: ticker, symbol: ticker, decimals },
    rpcUrls: { default: { http: [url] } },
  })
}
