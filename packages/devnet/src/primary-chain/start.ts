import { startHttpServer } from '../http-server.ts'
import { createChain, type PrimaryChain } from './chain.ts'
import { createFront } from './front.ts'
import { createGenesis } from './genesis.ts'
import { NO_JOURNAL, openJournal } from './journal.ts'
import { installRegistry } from './registry/stand-in.ts'

export interface PrimaryChainOptions {
  /** 0 takes any free port. */
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
  readonly chain: PrimaryChain
  stop(): Promise<void>
}

export async function startPrimaryChain(options: PrimaryChainOptions): Promise<RunningPrimaryChain> {
  const { port, host = '127.0.0.1', stateFile, confirmAfterMs = 400, finalizeAfterMs = 2_000, now = Date.now } = options
  const svm = await createGenesis()
  const withRegistry = installRegistry(svm, options.registryProgram)
  let chain: PrimaryChain
  // Take the port before touching the journal: of two processes started by mistake, only one writes.
  const server = await startHttpServer(
    createFront(() => chain),
    { port, host },
  )
  try {
    const { journal, entries } = stateFile ? openJournal(stateFile) : { journal: NO_JOURNAL, entries: [] }
    chain = createChain({ svm, withRegistry, now, journal, entries, confirmAfterMs, finalizeAfterMs })
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    url: server.url,
    chain,
    async stop() {
      await server.stop()
      chain.close()
    },
  }
}
