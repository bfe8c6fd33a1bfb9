import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ports that the kernel assigns. */
const FIRST_PORT = 16_000
const BLOCKS = 160
const PORTS_PER_BLOCK = 100

/** The first port of the block of this process. */
let block: Promise<number> | undefined
let given = 0

/**
 * A process that listens on the first port of a block owns the block. No other process takes a port of it before the
 * caller uses the port.
 */
export async function freePort(): Promise<number> {
  block ??= claimBlock()
  const port = (await block) + 1 + (given++ % (PORTS_PER_BLOCK - 1))
  const server = await listenOn(port)
  if (!server) return freePort()
  server.close()
  await once(server, 'close')
  return port
}

async function claimBlock(): Promise<number> {
  const first = FIRST_PORT + randomInt(BLOCKS) * PORTS_PER_BLOCK
  const server = await listenOn(first)
  if (!server) return claimBlock()
  server.unref()
  return first
}

/** Null when the port is in use. */
function listenOn(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
