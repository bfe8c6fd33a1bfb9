import {
  type AccountOverride,
  ContractDecoder,
  EdrContext,
  GENERIC_CHAIN_TYPE,
  genericChainProviderFactory,
  MineOrdering,
  PRAGUE,
  type ProviderConfig,
} from '@nomicfoundation/edr'
import { decodeErrorResult, type Hex } from 'viem'
import { RPC_CODES, RpcError } from '../rpc-error.ts'

export const HARDFORK = PRAGUE

/** EDR, the EVM inside hardhat, in this process: answers JSON-RPC methods, keeps everything in memory. */
export type Engine = { request(method: string, params?: readonly unknown[]): Promise<unknown> }

/** Block 0. */
export type Genesis = {
  chainId: number
  /** Seconds. */
  time: number
  accounts: AccountOverride[]
  /** Private keys that the chain holds, so that eth_sendTransaction works without a signer. */
  ownedKeys: string[]
}

// EDR allows one context per process. It holds no chain, it only creates them.
let context: Promise<EdrContext> | undefined

export async function createEngine(genesis: Genesis): Promise<Engine> {
  context ??= createContext()
  const provider = await (await context).createProvider(
    GENERIC_CHAIN_TYPE,
    providerConfig(genesis),
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  )
  return {
    async request(method, params = []) {
      const { data } = await provider.handleRequest(JSON.stringify({ method, params }))
      // EDR returns text, or an object where the text would be too long for a string.
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

function providerConfig({ chainId, time, accounts, ownedKeys }: Genesis): ProviderConfig {
  return {
    chainId: BigInt(chainId),
    networkId: BigInt(chainId),
    hardfork: HARDFORK,
    genesisState: accounts,
    ownedAccounts: ownedKeys,
    initialDate: BigInt(time),
    // Chain 143 makes several blocks a second. Without this, a burst of transactions would run ahead of the clock.
    allowBlocksWithSameTimestamp: true,
    // As on any public node: a reverted transaction is mined and has a receipt, a reverted call is an error.
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

type EngineError = { code: number; message: string; data?: { reason?: object; data?: Hex } | null }

/** EDR words a revert its own way; public nodes answer code 3 with the bare return data, and clients rely on that. */
function fromEngineError({ code, message, data }: EngineError): RpcError {
  if (!data?.reason || !('Revert' in data.reason)) return new RpcError(code, message)
  const reason = revertReason(data.data)
  const text = reason ? `execution reverted: ${reason}` : 'execution reverted'
  return new RpcError(RPC_CODES.executionReverted, text, data.data)
}

function revertReason(data: Hex | undefined): string | undefined {
  if (!data?.startsWith('0x08c379a0')) return undefined
  try {
    return String(decodeErrorResult({ data, abi: [] }).args[0])
  } catch {
    return undefined // A contract may revert with bytes that only begin like Error(string).
  }
}
