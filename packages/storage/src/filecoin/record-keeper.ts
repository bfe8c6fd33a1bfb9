// What the chain says of our data sets and pieces: the provider's word is not taken for it.

import { type Address, isAddressEqual } from 'viem'
import { readContract } from 'viem/actions'
import { ProviderError } from '../provider.ts'
import type { FilecoinClient } from './client.ts'

export interface DataSet {
  id: bigint
  /** What it is called in signatures. */
  clientDataSetId: bigint
}

export interface RecordKeeper {
  /** The data set that a number we signed with was used for; null while it was not. Each can be used once only. */
  dataSetUsing(nonce: bigint): Promise<bigint | null>
  /** Trouble where there is no such data set, or it is not ours, or has ended. */
  requireDataSet(id: bigint): Promise<DataSet>
}

const LOW_128_BITS = (1n << 128n) - 1n

export function openRecordKeeper(client: FilecoinClient): RecordKeeper {
  const { fwss, fwssView } = client.chain.contracts
  let view: Address | null = null

  /** The contract has its answers given by another, which can be replaced. */
  async function findView(): Promise<Address> {
    view ??= await readContract(client, { ...fwss, functionName: 'viewContractAddress' })
    return view
  }

  return {
    async dataSetUsing(nonce) {
      const use = await asking(async () =>
        readContract(client, {
          abi: fwssView.abi,
          address: await findView(),
          functionName: 'clientNonces',
          args: [client.account.address, nonce],
        }),
      )
      // The upper half counts pieces.
      return use === 0n ? null : use & LOW_128_BITS
    },
    async requireDataSet(id) {
      const dataSet = await asking(async () =>
        readContract(client, {
          abi: fwssView.abi,
          address: await findView(),
          functionName: 'getDataSet',
          args: [id],
        }),
      )
      const { payer, pdpRailId, pdpEndEpoch, clientDataSetId } = dataSet
      if (pdpRailId === 0n) throw closed(`there is no data set ${id}`)
      if (!isAddressEqual(payer, client.account.address)) throw closed(`the data set ${id} is paid for by ${payer}`)
      if (pdpEndEpoch !== 0n) throw closed(`the data set ${id} ends`)
      return { id, clientDataSetId }
    },
  }
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    // Of what viem says the first line alone: the others repeat the address of the node.
    const said = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new ProviderError('unavailable', new Error(`the chain does not answer: ${said}`))
  }
}

function closed(why: string): ProviderError {
  return new ProviderError('closed', new Error(why))
}
