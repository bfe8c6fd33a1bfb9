import type { WireRequest } from './wire-request.ts'

/**
 * Aborted when the client closes its connection. Dispose of it with the request: a connection may have many requests.
 */
export function disconnectSignal({
  stream: { socket },
}: Pick<WireRequest, 'stream'>): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (socket.destroyed) abort()
  socket.once('close', abort)
  return { signal: controller.signal, [Symbol.dispose]: () => void socket.off('close', abort) }
}
