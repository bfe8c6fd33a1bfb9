import { type AccountOverride, l1GenesisState, l1HardforkFromString, PRAGUE } from '@nomicfoundation/edr'
import { hexToBytes, parseEther, parseUnits } from 'viem'
import { ASSETS, decimalsOf, grantTransaction } from './assets.ts'
import { MULTICALL3, TOKENS } from './contracts.ts'
import { DEV_MINTER, DEV_PAYERS, DEV_TREASURY } from './dev-accounts.ts'
import type { Engine } from './engine.ts'

export const HARDFORK = PRAGUE

/** Block 0: the system contracts of the hard fork, the contracts' code, and the minter, who pays for the rest. */
export function genesisState(): AccountOverride[] {
  return [
    ...l1GenesisState(l1HardforkFromString(HARDFORK)),
    ...[...Object.values(TOKENS), MULTICALL3].map(({ address, code }) => ({
      address: hexToBytes(address),
      code: hexToBytes(code),
    })),
    { address: hexToBytes(DEV_MINTER.address), balance: parseEther('1000000000000') },
  ]
}

/** Keys the chain itself holds, so that eth_sendTransaction and wallet pages work without a signer. */
export function ownedKeys(): string[] {
  return [...DEV_PAYERS, DEV_MINTER, DEV_TREASURY].map(({ privateKey }) => privateKey)
}

/** Block 1: every payer gets 10,000 of every asset. The treasury starts empty: what it holds was earned. */
export async function fundPayers(engine: Engine, time: number): Promise<void> {
  await engine.request('evm_setAutomine', [false])
  for (const asset of ASSETS) {
    for (const { address } of DEV_PAYERS) {
      const units = parseUnits('10000', decimalsOf(asset))
      await engine.request('eth_sendTransaction', [grantTransaction(address, asset, units)])
    }
  }
  await engine.request('evm_mine', [time])
  await engine.request('evm_setAutomine', [true])
}
