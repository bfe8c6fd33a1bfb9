// The client of the registry on the EVM chain. Callers record a transaction between `prepare` and `send`.

import { ROLES } from '@svc/api/networks'
import { MERKLE_REGISTRY_ABI as abi, MERKLE_REGISTRY_BYTECODE } from '@svc/contracts/merkle-registry'
import { createEvmAccount, type EvmAccount, type SignedTransaction } from '@svc/payments/evm/account'
import { Reverted, toEvmError } from '@svc/payments/evm/errors'
import { type EvmOutcome, outcomeOf } from '@svc/payments/evm/outcome'
import { watchOutcome } from '@svc/payments/transactions'
import { type Address, getContractAddress, type Hex, parseTransaction } from 'viem'
import { decodeEntry, encodeEntry, isSameEntry, type RegistryEntry, registryKey } from './entry.ts'
import { type Objection, objectionOf, rejectReading, rejectWriting } from './errors.ts'

export interface EvmRegistryOptions {
  rpcUrls: readonly string[]
  /** The key of the contract's owner. */
  privateKey: Uint8Array
  contract: Address
}

type Failed = Extract<EvmOutcome, { outcome: 'failed' }>
export type EntryOutcome = Exclude<EvmOutcome, Failed> | (Failed & { reason: Objection })

export type EvmRegistry = ReturnType<typeof createEvmRegistry>

/** Every method but `send` may throw `RegistryError`. */
export function createEvmRegistry({ rpcUrls, privateKey, contract }: EvmRegistryOptions) {
  const account = createEvmAccount(ROLES.registry, rpcUrls, privateKey)
  const { client } = account

  async function read(receiptId: string): Promise<RegistryEntry | null> {
    const args = [registryKey(receiptId)] as const
    const call = { address: contract, abi, functionName: 'verifyMerkle', args } as const
    return decodeEntry(await client.readContract(call).catch(rejectReading))
  }

  /** Repeats the call at the block where it failed. If that block is pruned, the reason is `refused`. */
  async function reasonOf(raw: Hex, block: number): Promise<Objection> {
    const { data = '0x' } = parseTransaction(raw)
    try {
      await client.call({ account: account.address, to: contract, data, blockNumber: BigInt(block) })
      return 'refused'
    } catch (error) {
      const meaning = toEvmError(error)
      return meaning instanceof Reverted ? objectionOf(meaning) : 'refused'
    }
  }

  async function outcome(signed: SignedTransaction): Promise<EntryOutcome> {
    const found = await outcomeOf(account, signed).catch(rejectReading)
    return found.outcome === 'failed' ? { ...found, reason: await reasonOf(signed.raw, found.block) } : found
  }

  return {
    /** The account that writes. */
    address: account.address,
    read,

    /**
     * Signs with the next free nonce, which stays free until the transaction is sent: two prepared transactions may
     * share it.
     */
    async prepare(receiptId: string, entry: RegistryEntry): Promise<SignedTransaction | 'there_already'> {
      // Reading also detects a wrong address: without a contract, any transaction would land and write nothing.
      const current = await read(receiptId)
      if (current && isSameEntry(current, entry)) return 'there_already'
      const call = { to: contract, data: encodeEntry(receiptId, entry) }
      const costs = await account.costs(call).catch(rejectWriting)
      return account.sign({ ...call, ...costs }).catch(rejectWriting)
    },

    /** After `nonce_taken` the transaction can never land: prepare another. After `sent` it may land: ask `outcome`. */
    send: account.send,

    outcome,

    /** Asks until the outcome is known or the time is up, and resends the transaction at intervals. */
    watch: (signed: SignedTransaction, timeoutMs: number): Promise<EntryOutcome> =>
      watchOutcome<EntryOutcome>({ ask: () => outcome(signed), resend: () => account.send(signed.raw), timeoutMs }),

    async isOwner(): Promise<boolean> {
      const owner = await client.readContract({ address: contract, abi, functionName: 'owner' }).catch(rejectReading)
      return owner === account.address
    },

    balance: (): Promise<bigint> => account.balance().catch(rejectReading),
  }
}

/** Signs the transaction that creates a registry owned by the account, but does not send it. */
export async function prepareDeployment(account: EvmAccount): Promise<SignedTransaction & { contract: Address }> {
  const call = { data: MERKLE_REGISTRY_BYTECODE } as const
  const signed = await account.sign({ ...call, ...(await account.costs(call)) })
  const { nonce = 0 } = parseTransaction(signed.raw)
  return { ...signed, contract: getContractAddress({ from: account.address, nonce: BigInt(nonce) }) }
}
