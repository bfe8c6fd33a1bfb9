import { startHttpServer } from '../http-server.ts'
import { createRefusals, type LocalNode, type NodeFaults } from '../node-faults.ts'
import { type ChainOptions, type EvmChain, openChain } from './chain.ts'
import { createFront } from './front.ts'
import { nodeOf } from './node.ts'

export type EvmChainOptions = ChainOptions & {
  /** 0 takes any free port. */
  port: number
  host?: string
  /** Starts before the blocks of the journal are made again, which takes a millisecond for each; requests wait. */
  replayInBackground?: boolean
}

export type RunningEvmChain = {
  url: string
  chain: EvmChain
  /** Starts another node of the chain. */
  startNode(faults?: NodeFaults): Promise<LocalNode>
  stop(): Promise<void>
}

export async function startEvmChain(options: EvmChainOptions): Promise<RunningEvmChain> {
  const { port, host = '127.0.0.1', replayInBackground = false, ...chainOptions } = options
  const chain = await openChain(chainOptions)
  if (!replayInBackground) await chain.replayed
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
