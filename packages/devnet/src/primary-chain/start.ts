import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createChain, type PrimaryChain } from './chain.ts'
import { createFront } from './front.ts'
import { createGenesis } from './genesis.ts'
import { NO_JOURNAL, openJournal } from './journal.ts'
import { answerJsonRpc } from './json-rpc.ts'
import { installRegistry } from './registry/install.ts'

export interface PrimaryChainOptions {
  /** 0 takes a free port. */
  readonly port: number
  readonly host?: string
  /** Where the chain is kept from one start to the next; without it the chain lives in memory alone. */
  readonly stateFile?: string
  readonly confirmAfterMs?: number
  readonly finalizeAfterMs?: number
  /** File with the registry's real program; without it the chain carries a stand-in. */
  readonly registryProgram?: string
  /** The time in milliseconds since 1970. */
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
  const server = createFront((body) => answerJsonRpc(chain, body))
  server.listen(port, host)
  await once(server, 'listening')
  // The port is taken before the journal is touched: of two processes by mistake started alike, only one writes.
  try {
    const { journal, entries } = stateFile ? openJournal(stateFile) : { journal: NO_JOURNAL, entries: [] }
    chain = createChain({ svm, withRegistry, now, journal, entries, confirmAfterMs, finalizeAfterMs })
  } catch (error) {
    server.close()
    throw error
  }
  const { port: boundPort } = server.address() as AddressInfo // a listening TCP server has one
  return {
    url: `http://${host}:${boundPort}`,
    chain,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      chain.close()
    },
  }
}
