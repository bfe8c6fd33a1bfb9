import type { WireRequest } from './wire-request.ts'

/**
 * Aborted when the client closes its connection. Dispose of it with the request: a connection may have many requests.
 */
export function hangUpSignal({
  stream: { socket },
}: Pick<WireRequest, 'stream'>): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  const hangUp = () => controller.abort()
  if (socket.destroyed) hangUp()
  socket.once('close', hangUp)
  return { signal: controller.signal, [Symbol.dispose]: () => void socket.off('close', hangUp) }
}
