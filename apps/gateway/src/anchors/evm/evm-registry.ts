// The gateway's client of its registry on the EVM chain. A transaction is prepared, noted by the caller, then sent:
// whatever happens in between, the note tells what to look for.

import { MERKLE_REGISTRY_ABI as abi } from '@svc/contracts/merkle-registry'
import { type Address, type Hex, parseTransaction } from 'viem'
import { createEvmAccount, type SignedTransaction } from '../../evm/account.ts'
import { type Fate, fateOf } from '../../evm/fate.ts'
import { meaningOf, Reverted } from '../../evm/trouble.ts'
import { decodeEntry, encodeEntry, isSameEntry, type RegistryEntry, registryKey } from './registry-entry.ts'
import { type Objection, objectionOf, rejectReading, rejectWriting } from './registry-refusal.ts'

export interface EvmRegistryOptions {
  rpcUrls: readonly string[]
  /** Of the owner of the contract. */
  privateKey: Uint8Array
  contract: Address
}

type Failed = Extract<Fate, { is: 'failed' }>
export type EntryFate = Exclude<Fate, Failed> | (Failed & { reason: Objection })

export type EvmRegistry = ReturnType<typeof createEvmRegistry>

/** All but `send` throw `RegistryRefusal`. */
export function createEvmRegistry({ rpcUrls, privateKey, contract }: EvmRegistryOptions) {
  const account = createEvmAccount(rpcUrls, privateKey)
  const { client } = account

  async function read(receiptId: string): Promise<RegistryEntry | null> {
    const args = [registryKey(receiptId)] as const
    const call = { address: contract, abi, functionName: 'verifyMerkle', args } as const
    return decodeEntry(await client.readContract(call).catch(rejectReading))
  }

  /** As far as the chain still tells. */
  async function reasonOf(raw: Hex, block: number): Promise<Objection> {
    const { data = '0x' } = parseTransaction(raw)
    try {
      await client.call({ account: account.address, to: contract, data, blockNumber: BigInt(block) })
      return 'refused'
    } catch (error) {
      const meaning = meaningOf(error)
      return meaning instanceof Reverted ? objectionOf(meaning) : 'refused'
    }
  }

  return {
    /** Who writes. */
    address: account.address,
    read,

    /** Signed with the next free number, which is free until something is sent: two that are prepared may share it. */
    async prepare(receiptId: string, entry: RegistryEntry): Promise<SignedTransaction | 'there_already'> {
      // Also finds out a wrong address: where there is no contract, any transaction would land and write nothing.
      const there = await read(receiptId)
      if (there && isSameEntry(there, entry)) return 'there_already'
      const call = { to: contract, data: encodeEntry(receiptId, entry) }
      const costs = await account.costs(call).catch(rejectWriting)
      return account.sign({ ...call, ...costs }).catch(rejectWriting)
    },

    /** After `number_taken` it never comes: prepare another. After `sent` it may, and `fate` tells. */
    send: account.send,

    async fate(tx: Hex, raw: Hex): Promise<EntryFate> {
      const fate = await fateOf(account, { tx, raw }).catch(rejectReading)
      return fate.is === 'failed' ? { ...fate, reason: await reasonOf(raw, fate.block) } : fate
    },

    async isOwner(): Promise<boolean> {
      const owner = await client.readContract({ address: contract, abi, functionName: 'owner' }).catch(rejectReading)
      return owner === account.address
    },

    balance: (): Promise<bigint> => account.balance().catch(rejectReading),
  }
}
