import type { ClientRequest } from 'node:http'
import { TooSlow } from '../timeouts.ts'

/** Of requests, answers and their sockets. The usual 64 KiB are the system's chunks: to stop at each takes long. */
export const BUFFERING = { highWaterMark: 1024 * 1024 }

/** Ends a request whose store keeps us waiting. */
export interface Timer {
  allow(ms: number): void
  stop(): void
}

export function createTimer(outgoing: ClientRequest): Timer {
  let timer: NodeJS.Timeout | undefined
  return {
    allow(ms) {
      clearTimeout(timer)
      timer = setTimeout(() => outgoing.destroy(new TooSlow(`the store let us wait for ${ms} ms`)), ms)
    },
    stop: () => clearTimeout(timer),
  }
}
