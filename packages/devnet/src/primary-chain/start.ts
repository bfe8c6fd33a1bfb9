import { PRIMARY, type SolanaNetwork } from '@svc/api/networks'
import { startHttpServer } from '../http-server.ts'
import type { Landing } from '../landing.ts'
import { createRefusals, type LocalNode, type NodeFaults } from '../node-faults.ts'
import { createChain, type PrimaryChain } from './chain.ts'
import { createFront } from './front.ts'
import { createGenesis } from './genesis.ts'
import { NO_JOURNAL, openJournal } from './journal.ts'
import { nodeOf } from './node.ts'
import { installRegistry } from './registry/stand-in.ts'
import { NO_PAST } from './snapshot.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface PrimaryChainOptions {
  /** 0 takes any free port. It serves websockets, too. */
  readonly port: number
  /** A second port that serves the same. Stock clients look for websockets one port above the RPC port. */
  readonly webSocketPort?: number
  readonly host?: string
  /** File that keeps the chain between starts; without it the chain is in memory only. */
  readonly stateFile?: string
  /** `later` by default. */
  readonly landing?: Landing
  /** The network whose chain it is; `PRIMARY` by default. */
  readonly network?: SolanaNetwork
  /** File with the registry's real program; without it the chain uses a stand-in. */
  readonly registryProgram?: string
  /** Unix milliseconds. */
  readonly now?: () => number
}

export interface RunningPrimaryChain {
  readonly url: string
  readonly webSocketUrl: string
  readonly chain: PrimaryChain
  /** Starts another node of the chain. */
  startNode(faults?: NodeFaults): Promise<LocalNode>
  stop(): Promise<void>
}

export async function startPrimaryChain(options: PrimaryChainOptions): Promise<RunningPrimaryChain> {
  const {
    port,
    webSocketPort,
    host = '127.0.0.1',
    stateFile,
    landing = 'later',
    now = Date.now,
    network = PRIMARY,
  } = options
  const svm = await createGenesis()
  const withRegistry = installRegistry(svm, options.registryProgram)
  let chain: PrimaryChain
  const front = createFront(() => chain)
  const subscriptions = createSubscriptions(() => chain)
  const onUpgrade = subscriptions.upgrade
  // Take the port before touching the journal: of two processes started by mistake, only one writes.
  const server = await startHttpServer(front, { port, host, onUpgrade })
  const servers = [server]
  try {
    if (webSocketPort) servers.push(await startHttpServer(front, { port: webSocketPort, host, onUpgrade }))
    const { journal, past } = stateFile ? openJournal(stateFile) : { journal: NO_JOURNAL, past: NO_PAST }
    chain = createChain({ network, svm, withRegistry, now, journal, past, landing })
  } catch (error) {
    await Promise.all(servers.map(({ stop }) => stop()))
    throw error
  }
  return {
    url: server.url,
    webSocketUrl: server.url.replace(/^http/, 'ws'),
    chain,
    async startNode(first = {}) {
      let faults = first
      const node = nodeOf(chain, () => faults)
      const isRefused = createRefusals(() => faults)
      const started = await startHttpServer(createFront(() => node, isRefused))
      servers.push(started)
      return {
        url: started.url,
        behave(next) {
          faults = next
        },
      }
    },
    async stop() {
      subscriptions.stop()
      await Promise.all(servers.map(({ stop }) => stop()))
      chain.close()
    },
  }
}
