import { ASSETS } from '@svc/api/assets'
import { EVM } from '@svc/api/networks'
import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex, parseUnits } from 'viem'
import { startHttpServer } from '../http-server.ts'
import { createRefusals, type LocalNode, type NodeFaults } from '../node-faults.ts'
import { type ChainOptions, type EvmChain, openChain } from './chain.ts'
import { isOfGenesis, type Token, tokensOf } from './contracts.ts'
import { DEV_PAYERS } from './dev-accounts.ts'
import { createFront } from './front.ts'
import { PAYER_FUNDS } from './genesis.ts'
import { nodeOf } from './node.ts'

export type EvmChainOptions = ChainOptions & {
  /** 0 takes any free port. */
  port: number
  host?: string
  /** Starts before the blocks of the journal are rebuilt, which takes a millisecond each; requests wait. */
  replayInBackground?: boolean
}

export type RunningEvmChain = {
  url: string
  chain: EvmChain
  /** Starts another node of the chain. */
  startNode(faults?: NodeFaults): Promise<LocalNode>
  stop(): Promise<void>
}

/** Adds tokens that the first block lacks, so that stored chains can be replayed on it. Makes no block. */
async function addTokens({ request }: EvmChain, tokens: readonly Token[]): Promise<void> {
  for (const { address, decimals, code } of tokens.filter((token) => !isOfGenesis(token))) {
    if ((await request({ method: 'eth_getCode', params: [address, 'latest'] })) === code) continue
    await request({ method: 'hardhat_setCode', params: [address, code] })
    const funds = numberToHex(parseUnits(PAYER_FUNDS, decimals), { size: 32 })
    for (const payer of DEV_PAYERS)
      await request({ method: 'hardhat_setStorageAt', params: [address, balanceSlot(payer.address), funds] })
  }
}

/** The storage slot in `balanceOf`, the second variable of `Erc20.sol`. */
function balanceSlot(owner: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner, 1n]))
}

export async function startEvmChain(options: EvmChainOptions): Promise<RunningEvmChain> {
  const { port, host = '127.0.0.1', replayInBackground = false, ...chainOptions } = options
  const { network = EVM, tokens = tokensOf(ASSETS, network) } = options
  const chain = await openChain(chainOptions)
  const ready = chain.replayed.then(() => addTokens(chain, tokens))
  if (!replayInBackground) await ready
  // Requests that wait for the replay get its error.
  ready.catch(() => {})
  const server = await startHttpServer(createFront(chain), { port, host }).catch(async (error: unknown) => {
    await chain.close()
    throw error
  })
  const servers = [server]
  return {
    url: server.url,
    chain,
    async startNode(first = {}) {
      let faults = first
      const node = nodeOf(chain, () => faults)
      const started = await startHttpServer(
        createFront(
          node,
          createRefusals(() => faults),
        ),
      )
      servers.push(started)
      return {
        url: started.url,
        behave(next) {
          faults = next
        },
      }
    },
    async stop() {
      await Promise.all(servers.map(({ stop }) => stop()))
      await chain.close()
    },
  }
}
