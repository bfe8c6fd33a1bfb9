// What the chain reports about our data sets and pieces: a provider's own claim is not enough.

import { type Chain, getChain } from '@filoz/synapse-core/chains'
import { type Account, type Address, type Client, createClient, http, isAddressEqual, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { ProviderError } from '../provider.ts'
import type { Timeouts } from '../timeouts.ts'
import type { FilecoinSettings } from './settings.ts'

export type FilecoinClient = Client<Transport, Chain, Account>

/** Signs for the paying account, on the chain and with the contract of the settings. */
export function openClient(settings: FilecoinSettings, { answerMs }: Pick<Timeouts, 'answerMs'>): FilecoinClient {
  const { chainId, key, recordKeeper, rpcUrl } = settings
  const chain = getChain(chainId)
  const fwss = { ...chain.contracts.fwss, address: recordKeeper }
  return createClient({
    account: privateKeyToAccount(key),
    chain: { ...chain, contracts: { ...chain.contracts, fwss } },
    transport: http(rpcUrl, { timeout: answerMs, retryCount: 1, fetchFn: endsWithin(answerMs) }),
  })
}

/** The library's own timeout ends with the head of an answer. */
function endsWithin(ms: number): typeof fetch {
  return (target, init) => fetch(target, { ...init, signal: AbortSignal.timeout(ms) })
}

export interface DataSet {
  id: bigint
  /** Its id in signatures. */
  clientDataSetId: bigint
}

/** The contract that registers data sets. */
export interface RecordKeeper {
  /** The data set that a signed nonce was used for; null when it was not used. Each can be used only once. */
  dataSetUsing(nonce: bigint): Promise<bigint | null>
  /** Throws when the data set does not exist, is not ours, or has ended. */
  requireDataSet(id: bigint): Promise<DataSet>
  /** Throws when the account cannot pay any more. */
  requireFunds(): Promise<void>
}

const LOW_128_BITS = (1n << 128n) - 1n

export function openRecordKeeper(client: FilecoinClient): RecordKeeper {
  const { fwss, fwssView, filecoinPay } = client.chain.contracts
  const payer = client.account.address
  let view: Address | null = null

  /** Another contract answers for this one, and can be replaced. */
  async function findView(): Promise<Address> {
    view ??= await readContract(client, { ...fwss, functionName: 'viewContractAddress' })
    return view
  }

  /** The payer's funds, and what the payer allows the contract. */
  async function readAccount() {
    const [address, token] = await Promise.all([
      readContract(client, { ...fwss, functionName: 'paymentsContractAddress' }),
      readContract(client, { ...fwss, functionName: 'usdfcTokenAddress' }),
    ])
    const pay = { abi: filecoinPay.abi, address } as const
    const [[isApproved, rate, lockup, rateUsage, lockupUsage], [, , funds]] = await Promise.all([
      readContract(client, { ...pay, functionName: 'operatorApprovals', args: [token, payer, fwss.address] }),
      readContract(client, { ...pay, functionName: 'getAccountInfoIfSettled', args: [token, payer] }),
    ])
    // Usage that equals an allowance may be enough: a data set has a minimum price, up to which pieces cost nothing
    // more.
    const isUsedUp = rate === 0n || lockup === 0n || rateUsage > rate || lockupUsage > lockup
    return { isApproved, isUsedUp, funds }
  }

  return {
    async dataSetUsing(nonce) {
      const use = await onChain(async () =>
        readContract(client, {
          abi: fwssView.abi,
          address: await findView(),
          functionName: 'clientNonces',
          args: [payer, nonce],
        }),
      )
      // The upper half counts pieces.
      return use === 0n ? null : use & LOW_128_BITS
    },
    async requireDataSet(id) {
      const dataSet = await onChain(async () =>
        readContract(client, {
          abi: fwssView.abi,
          address: await findView(),
          functionName: 'getDataSet',
          args: [id],
        }),
      )
      const { pdpRailId, pdpEndEpoch, clientDataSetId } = dataSet
      if (pdpRailId === 0n) throw new ProviderError('closed', `the data set ${id} does not exist`)
      if (!isAddressEqual(dataSet.payer, payer)) {
        throw new ProviderError('closed', `the data set ${id} is paid for by ${dataSet.payer}`)
      }
      if (pdpEndEpoch !== 0n) throw new ProviderError('closed', `the data set ${id} is ending`)
      return { id, clientDataSetId }
    },
    async requireFunds() {
      const { isApproved, isUsedUp, funds } = await onChain(readAccount)
      if (!isApproved) throw new ProviderError('closed', `${payer} has not approved the contract ${fwss.address}`)
      if (isUsedUp) throw new ProviderError('closed', `the allowance of the contract ${fwss.address} is used up`)
      if (funds === 0n) throw new ProviderError('closed', `${payer} has no funds left at Filecoin Pay: deposit USDFC`)
    },
  }
}

async function onChain<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    // Only the first line: the others of viem's messages contain the address of the node.
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new ProviderError('unavailable', `the chain does not respond: ${message}`)
  }
}
