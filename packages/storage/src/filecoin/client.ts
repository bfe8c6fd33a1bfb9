import { type Chain, getChain } from '@filoz/synapse-core/chains'
import { type Account, type Client, createClient, http, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Patience } from './patience.ts'
import type { FilecoinSettings } from './settings.ts'

export type FilecoinClient = Client<Transport, Chain, Account>

/** Whoever pays, at the chain and with the contract of the settings. */
export function openClient(settings: FilecoinSettings, { answerMs }: Patience): FilecoinClient {
  const { chainId, key, recordKeeper, rpcUrl } = settings
  const chain = getChain(chainId)
  const fwss = { ...chain.contracts.fwss, address: recordKeeper }
  return createClient({
    account: privateKeyToAccount(key),
    chain: { ...chain, contracts: { ...chain.contracts, fwss } },
    transport: http(rpcUrl, { timeout: answerMs, retryCount: 1 }),
  })
}
