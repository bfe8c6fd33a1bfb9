import { type AccountOverride, l1GenesisState, l1HardforkFromString } from '@nomicfoundation/edr'
import type { EvmNetwork } from '@svc/api/networks'
import { hexToBytes, parseEther, parseUnits } from 'viem'
import { isOfGenesis, MULTICALL3, TOKENS } from './contracts.ts'
import { DEV_MINTER, DEV_PAYERS, DEV_TREASURY } from './dev-accounts.ts'
import { createEngine, type Engine, HARDFORK } from './engine.ts'
import { coinGrant, type Grantable, grantTransaction } from './faucet.ts'

const GENESIS_TOKENS = Object.values(TOKENS).filter(isOfGenesis)
/** How much of each asset a payer has at first. */
export const PAYER_FUNDS = '10000'

/** A fresh chain: the same two blocks every time. `time` is in seconds. */
export async function createGenesis(network: EvmNetwork, time: number): Promise<Engine> {
  const ownedKeys = [...DEV_PAYERS, DEV_MINTER, DEV_TREASURY].map(({ privateKey }) => privateKey)
  const engine = await createEngine({ chainId: network.chainId, time, accounts: genesisAccounts(), ownedKeys })
  await fundPayers(engine, coinGrant(network), time)
  return engine
}

/** Block 0: the system contracts of the hard fork, the contracts' code, and the minter, which pays for the rest. */
function genesisAccounts(): AccountOverride[] {
  return [
    ...l1GenesisState(l1HardforkFromString(HARDFORK)),
    ...[...GENESIS_TOKENS, MULTICALL3].map(({ address, code }) => ({
      address: hexToBytes(address),
      code: hexToBytes(code),
    })),
    { address: hexToBytes(DEV_MINTER.address), balance: parseEther('1000000000000') },
  ]
}

/** Block 1: every payer gets their funds of every asset. The treasury starts empty. */
async function fundPayers(engine: Engine, coin: Grantable, time: number): Promise<void> {
  await engine.request('evm_setAutomine', [false])
  for (const asset of [coin, ...GENESIS_TOKENS]) {
    for (const { address } of DEV_PAYERS) {
      const units = parseUnits(PAYER_FUNDS, asset.decimals)
      await engine.request('eth_sendTransaction', [grantTransaction(address, asset, units)])
    }
  }
  await engine.request('evm_mine', [time])
  await engine.request('evm_setAutomine', [true])
}
