import { EVM } from '@svc/api/networks'
import { FIXTURES, MULTICALL3, TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { type EvmChainOptions, startEvmChain } from '@svc/devnet/evm-chain/start'
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem'
import { createEvmPaymentReader, type EvmPaymentReaderOptions } from '../../src/evm/payment-reader.ts'
import type { Destination } from '../../src/payment.ts'

export const TREASURY = DEV_TREASURY.address
export const TO_TREASURY: Destination = { asset: EVM.nativeAsset, payTo: TREASURY }
export const USDC_TO_TREASURY: Destination = { asset: TOKENS.USDC.address, payTo: TREASURY }

/** A chain, a reader of it, and funded accounts. */
export async function startPayments(options: Partial<EvmChainOptions> = {}) {
  const running = await startEvmChain({ port: 0, ...options })
  const [payer, other, relay] = [0, 1, 2].map((index) => connectAs(DEV_PAYERS[index]!, running.url))
  const readerOf = (changes: Partial<EvmPaymentReaderOptions> = {}) =>
    createEvmPaymentReader({ rpcUrls: [running.url], chainId: EVM.chainId, ...changes })
  return { ...running, people: { payer: payer!, other: other!, relay: relay! }, reader: readerOf(), readerOf }
}

export type Payments = Awaited<ReturnType<typeof startPayments>>

/** The form in which readers return addresses. */
export function addressOf(person: DevClient): string {
  return person.account.address.toLowerCase()
}

export function payTokens(from: DevClient, value: bigint, token: Address = TOKENS.USDC.address): Promise<Hex> {
  return from.writeContract({ address: token, abi: erc20Abi, functionName: 'transfer', args: [TREASURY, value] })
}

/** With fixed gas, so that a transaction is sent even if it must fail. */
export const ENOUGH_GAS = { gas: 300_000n }

export async function deploy(by: DevClient, fixture: keyof typeof FIXTURES): Promise<Address> {
  const hash = await by.sendTransaction({ data: FIXTURES[fixture].initCode })
  const { contractAddress } = await by.getTransactionReceipt({ hash })
  return contractAddress!
}

interface Pull {
  from: DevClient
  to: Address
  value: bigint
}

/** Lets a contract move tokens of several owners in one transaction. */
export async function pullTokens(by: DevClient, pulls: readonly Pull[]): Promise<Hex> {
  const { address } = TOKENS.USDC
  const args = [MULTICALL3.address, 1_000_000n] as const
  for (const from of new Set(pulls.flatMap((pull) => (pull.value > 0n ? [pull.from] : []))))
    await from.writeContract({ address, abi: erc20Abi, functionName: 'approve', args })
  const calls = pulls.map(({ from, to, value }) => ({
    target: address,
    allowFailure: false,
    callData: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [from.account.address, to, value],
    }),
  }))
  return by.writeContract({
    address: MULTICALL3.address,
    abi: parseAbi(['function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable']),
    functionName: 'aggregate3',
    args: [calls],
  })
}
