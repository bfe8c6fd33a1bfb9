import { createServer } from 'node:net'

let next = 20_000 + (process.pid % 10_000)

/** Below the ports that the kernel gives away, and begun at our process id, so that two workers do not meet. */
export async function freePort(): Promise<number> {
  const candidate = next++
  const isFree = await new Promise<boolean>((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)))
  })
  return isFree ? candidate : freePort()
}
