import { type HttpServer, startHttpServer } from '../http-server.ts'
import { createChain, type PrimaryChain } from './chain.ts'
import { createFront } from './front.ts'
import { createGenesis } from './genesis.ts'
import { NO_JOURNAL, openJournal } from './journal.ts'
import { installRegistry } from './registry/stand-in.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface PrimaryChainOptions {
  /** 0 takes any free port. Websockets are also served at the next port, where stock clients look for them. */
  readonly port: number
  readonly host?: string
  /** File that keeps the chain between starts; without it the chain is in memory only. */
  readonly stateFile?: string
  readonly confirmAfterMs?: number
  readonly finalizeAfterMs?: number
  /** File with the registry's real program; without it the chain uses a stand-in. */
  readonly registryProgram?: string
  /** Unix milliseconds. */
  readonly now?: () => number
}

export interface RunningPrimaryChain {
  readonly url: string
  readonly webSocketUrl: string
  readonly chain: PrimaryChain
  stop(): Promise<void>
}

export async function startPrimaryChain(options: PrimaryChainOptions): Promise<RunningPrimaryChain> {
  const { port, host = '127.0.0.1', stateFile, confirmAfterMs = 400, finalizeAfterMs = 2_000, now = Date.now } = options
  const svm = await createGenesis()
  const withRegistry = installRegistry(svm, options.registryProgram)
  let chain: PrimaryChain
  const front = createFront(() => chain)
  const subscriptions = createSubscriptions(() => chain)
  // Take the port before touching the journal: of two processes started by mistake, only one writes.
  const server = await startHttpServer(front, { port, host, onUpgrade: subscriptions.upgrade })
  const servers = [server]
  /** Does without it when the port is taken: clients can also be given the address. */
  async function serveNextPort(): Promise<HttpServer[]> {
    try {
      return [await startHttpServer(front, { port: port + 1, host, onUpgrade: subscriptions.upgrade })]
    } catch {
      console.warn(`Port ${port + 1} is taken: websockets of the local primary chain are at port ${port} only.`)
      return []
    }
  }
  try {
    if (port !== 0) servers.push(...(await serveNextPort()))
    const { journal, entries } = stateFile ? openJournal(stateFile) : { journal: NO_JOURNAL, entries: [] }
    chain = createChain({ svm, withRegistry, now, journal, entries, confirmAfterMs, finalizeAfterMs })
  } catch (error) {
    await Promise.all(servers.map(({ stop }) => stop()))
    throw error
  }
  return {
    url: server.url,
    webSocketUrl: server.url.replace(/^http/, 'ws'),
    chain,
    async stop() {
      subscriptions.stop()
      await Promise.all(servers.map(({ stop }) => stop()))
      chain.close()
    },
  }
}
