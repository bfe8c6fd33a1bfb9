import {
  ContractDecoder,
  EdrContext,
  GENERIC_CHAIN_TYPE,
  genericChainProviderFactory,
  MineOrdering,
  type ProviderConfig,
} from '@nomicfoundation/edr'
import { genesisState, HARDFORK, ownedKeys } from './genesis.ts'
import { type EngineError, fromEngineError } from './rpc-error.ts'

export const CHAIN_ID = 143

/** EDR, the EVM inside hardhat, in this process: answers JSON-RPC methods, keeps everything in memory. */
export type Engine = { request(method: string, params?: readonly unknown[]): Promise<unknown> }

// EDR allows one context in a process; it holds no chain, only the right to make some.
let context: Promise<EdrContext> | undefined

export async function createEngine(genesisTime: number): Promise<Engine> {
  context ??= createContext()
  const provider = await (await context).createProvider(
    GENERIC_CHAIN_TYPE,
    providerConfig(genesisTime),
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  )
  return {
    async request(method, params = []) {
      const { data } = await provider.handleRequest(JSON.stringify({ method, params }))
      // EDR hands over text, or an object where the text would be too long for a string.
      const answer = (typeof data === 'string' ? JSON.parse(data) : data) as { result?: unknown; error?: EngineError }
      if (answer.error) throw fromEngineError(answer.error)
      return answer.result
    },
  }
}

async function createContext(): Promise<EdrContext> {
  const created = new EdrContext()
  await created.registerProviderFactory(GENERIC_CHAIN_TYPE, genericChainProviderFactory())
  return created
}

function providerConfig(genesisTime: number): ProviderConfig {
  return {
    chainId: BigInt(CHAIN_ID),
    networkId: BigInt(CHAIN_ID),
    hardfork: HARDFORK,
    genesisState: genesisState(),
    ownedAccounts: ownedKeys(),
    initialDate: BigInt(genesisTime),
    // Chain 143 makes several blocks a second. Without this, a burst of transactions would run ahead of the clock.
    allowBlocksWithSameTimestamp: true,
    // A reverted transaction is mined and has a receipt; a reverted call is an error: as on any public node.
    bailOnTransactionFailure: false,
    bailOnCallFailure: true,
    mining: { autoMine: true, memPool: { order: MineOrdering.Priority } },
    blockGasLimit: 60_000_000n,
    initialBaseFeePerGas: 1_000_000_000n,
    minGasPrice: 0n,
    coinbase: Buffer.from('c014ba5ec014ba5ec014ba5ec014ba5ec014ba5e', 'hex'),
    allowUnlimitedContractSize: false,
    precompileOverrides: [],
    observability: {},
  }
}
