import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ChainOptions, type EvmChain, openChain } from './chain.ts'
import { createFront } from './front.ts'

export type EvmChainOptions = ChainOptions & {
  /** 0 takes any free port. */
  port: number
  host?: string
}

export type RunningEvmChain = { url: string; chain: EvmChain; stop(): Promise<void> }

export async function startEvmChain({
  port,
  host = '127.0.0.1',
  ...options
}: EvmChainOptions): Promise<RunningEvmChain> {
  const chain = await openChain(options)
  const server = createFront(chain)
  server.listen(port, host)
  await once(server, 'listening').catch(async (error: unknown) => {
    await chain.close()
    throw error
  })
  // A server that listens on a port has an address object.
  const address = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    chain,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await chain.close()
    },
  }
}
