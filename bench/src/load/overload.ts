// Sends several times as many requests as a gateway can serve, from a separate process over many connections.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { LoadDependencies } from './setup.ts'

export interface Overload {
  /** The requests per second that were sent, and the ones that were served. */
  offeredPerSecond: number
  admittedPerSecond: number
  shed: number
  otherErrors: number
  /** Milliseconds of the requests served while the overload began. */
  burstP99: number
  /** Milliseconds of the same requests without overload. */
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
  /** Requests in these first seconds are counted separately. */
  burstSeconds: number
  seconds: number
  /** How long each connection waits before its next request, in milliseconds. */
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
 * Enough connections that the gateway serves only a fraction of them between two of their requests. The gateway accepts
 * a whole burst up to MAX_REQUESTS_AT_ONCE concurrent requests; only then does it know whether the burst continues.
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
