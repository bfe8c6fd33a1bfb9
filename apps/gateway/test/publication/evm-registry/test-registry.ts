// Starts a registry on a local chain, and clients that reach it through a faulty node.

import { randomBytes } from 'node:crypto'
import { EVM } from '@svc/api/networks'
import { createEvmAccount } from '@svc/payments/evm/account'
import { startTestChain, type TestChain } from '@svc/payments/test/evm/test-chain'
import type { Address } from 'viem'
import { createEvmRegistry, type EvmRegistry, prepareDeployment } from '../../../src/publication/evm-registry/client.ts'
import type { RegistryEntry } from '../../../src/publication/evm-registry/entry.ts'

export interface TestRegistry {
  chain: TestChain
  contract: Address
  ownerKey: Uint8Array
  owner: EvmRegistry
  /** Deploys another registry. */
  deploy(privateKey: Uint8Array): Promise<Address>
  open(privateKey: Uint8Array, contract?: Address): EvmRegistry
  stop(): Promise<void>
}

export async function startTestRegistry(): Promise<TestRegistry> {
  const chain = await startTestChain()
  const deploy = async (privateKey: Uint8Array) => {
    const account = createEvmAccount(EVM, [chain.url], privateKey)
    const { contract, raw } = await prepareDeployment(account)
    await account.send(raw)
    await chain.settle()
    return contract
  }
  const ownerKey = await chain.fundedKey()
  const contract = await deploy(ownerKey)
  const open = (privateKey: Uint8Array, at = contract) =>
    createEvmRegistry({ rpcUrls: [chain.node.url], privateKey, contract: at })
  return { chain, contract, ownerKey, owner: open(ownerKey), deploy, open, stop: chain.stop }
}

export function newReceipt(): string {
  return `rcpt_${randomBytes(16).toString('hex')}`
}

export function newEntry(changes: Partial<RegistryEntry> = {}): RegistryEntry {
  const merkle_root = `sha256:${randomBytes(32).toString('hex')}`
  return { merkle_root, slot: 300_000_001, file_count: 7, attested_at: 1_750_000_000, ...changes }
}

/** Signs an entry; throws when there is nothing to write. */
export async function prepared(registry: EvmRegistry, receiptId: string, entry: RegistryEntry) {
  const signed = await registry.prepare(receiptId, entry)
  if (signed === 'there_already') throw new Error('nothing to write')
  return signed
}

/** Longer than any transaction takes, even on a busy machine. */
export const WAIT_MS = 60_000

/** Writes an entry, and waits until it is final. */
export async function write(registry: EvmRegistry, receiptId: string, entry: RegistryEntry) {
  const signed = await prepared(registry, receiptId, entry)
  await registry.send(signed.raw)
  await registry.watch(signed, WAIT_MS)
  return signed
}
