// Several times as many requests as a gateway can serve, sent by a process of its own over many connections.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { LoadDependencies } from './setup.ts'

export interface Overload {
  /** Requests per second that were sent, and those that were served. */
  offeredPerSecond: number
  admittedPerSecond: number
  shed: number
  otherErrors: number
  /** Of those that were served while it began: milliseconds. */
  burstP99: number
  /** Of the same requests without overload. */
  calmP50: number
  calmP99: number
  admittedP50: number
  admittedP99: number
  refusedP50: number
  refusedP99: number
}

export interface FloodOrder {
  url: string
  paths: string[]
  connections: number
  /** What comes in these first seconds is counted by itself. */
  burstSeconds: number
  seconds: number
  /** What each connection waits before its next request, in milliseconds. */
  pauseMs: number
}

export interface FloodResult {
  perSecond: number
  admitted: { perSecond: number; p50: number; p99: number }
  refused: { count: number; p50: number; p99: number }
  burstP99: number
  otherErrors: number
}

const CALM = { connections: 4, burstSeconds: 1, seconds: 6, pauseMs: 0 }
/**
 * Enough that what the gateway serves between two of their requests is a fraction of them. A burst is taken as a whole
 * as long as no more are under way than MAX_REQUESTS_AT_ONCE: whether it goes on is known after that.
 */
const FLOOD = { connections: 400, burstSeconds: 3, seconds: 12, pauseMs: 250 }

export async function overload({ gateway, lockers }: LoadDependencies, say: (line: string) => void): Promise<Overload> {
  const paths = lockers.untouched.flatMap(({ receiptId }) => [
    `/v1/storage/verify?receipt_id=${receiptId}`,
    `/v1/storage/statements?receipt_id=${receiptId}`,
    `/v1/storage/evidence-bundle?receipt_id=${receiptId}`,
  ])
  const calm = await flood({ url: gateway.url, paths, ...CALM })
  say(`  calm: ${calm.admitted.perSecond.toFixed(0)}/s, p99 ${calm.admitted.p99.toFixed(0)} ms`)
  const high = await flood({ url: gateway.url, paths, ...FLOOD })
  return {
    offeredPerSecond: high.perSecond,
    admittedPerSecond: high.admitted.perSecond,
    shed: high.refused.count,
    otherErrors: high.otherErrors,
    burstP99: high.burstP99,
    calmP50: calm.admitted.p50,
    calmP99: calm.admitted.p99,
    admittedP50: high.admitted.p50,
    admittedP99: high.admitted.p99,
    refusedP50: high.refused.p50,
    refusedP99: high.refused.p99,
  }
}

async function flood(order: FloodOrder): Promise<FloodResult> {
  const child = fork(new URL('../servers/flood.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.send(order)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the flood ended with ${code}`)
  })
  const [result] = (await Promise.race([once(child, 'message'), ended])) as [FloodResult]
  ended.catch(() => {})
  child.disconnect()
  return result
}
