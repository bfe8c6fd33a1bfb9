import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that the kernel gives away, and by chance, so that two processes hardly meet. */
export async function freePort(): Promise<number> {
  const candidate = randomInt(16_000, 32_000)
  const isFree = await new Promise<boolean>((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)))
  })
  return isFree ? candidate : freePort()
}
