// Sends requests over many connections from a separate process: the measuring process must not wait for the measured one.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FloodOrder, FloodResult } from '../load/overload.ts'

const [order] = (await once(process, 'message')) as [FloodOrder]
process.send?.(await flood(order))
process.disconnect()

async function flood({ url, paths, connections, burstSeconds, seconds, pauseMs }: FloodOrder): Promise<FloodResult> {
  const { hostname, port } = new URL(url)
  const [admitted, refused]: [number[], number[]] = [[], []]
  const burst: number[] = []
  let otherErrors = 0
  const burstEnd = performance.now() + burstSeconds * 1000
  const end = burstEnd + seconds * 1000
  let next = 0

  async function client(): Promise<void> {
    await setTimeout(Math.random() * pauseMs)
    let socket = await open()
    while (performance.now() < end) {
      const startedAt = performance.now()
      const answer = await ask(socket, `GET ${paths[next++ % paths.length]} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
      const ms = performance.now() - startedAt
      const isBurst = startedAt < burstEnd
      if (answer?.status === 200) (isBurst ? burst : admitted).push(ms)
      else if (answer?.status !== 503 || !answer.hasRetryAfter) otherErrors++
      else if (!isBurst) refused.push(ms)
      if (answer === null) socket = await open()
      // Vary the pause, so that requests do not come in waves.
      if (pauseMs > 0) await setTimeout(pauseMs * (0.5 + Math.random()))
    }
    socket.destroy()
  }

  async function open(): Promise<Socket> {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }

  await Promise.all(Array.from({ length: connections }, client))
  return {
    perSecond: (admitted.length + refused.length + otherErrors) / seconds,
    admitted: { perSecond: admitted.length / seconds, p50: percentile(admitted, 0.5), p99: percentile(admitted, 0.99) },
    refused: { count: refused.length, p50: percentile(refused, 0.5), p99: percentile(refused, 0.99) },
    burstP99: percentile(burst, 0.99),
    otherErrors,
  }
}

/** Null when the connection broke. */
function ask(socket: Socket, request: string): Promise<{ status: number; hasRetryAfter: boolean } | null> {
  return new Promise((resolve) => {
    let text = ''
    const finish = (answer: { status: number; hasRetryAfter: boolean } | null) => {
      socket.off('data', read).off('close', broken)
      resolve(answer)
    }
    const broken = () => finish(null)
    const read = (piece: Buffer) => {
      text += piece.toString('latin1')
      const body = text.indexOf('\r\n\r\n') + 4
      if (body < 4) return
      const head = text.slice(0, body)
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      const isWhole = length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= body + Number(length)
      if (isWhole) finish({ status: Number(head.slice(9, 12)), hasRetryAfter: /\r\nretry-after: \d/i.test(head) })
    }
    socket.on('data', read).once('close', broken)
    socket.write(request)
  })
}

function percentile(ms: readonly number[], share: number): number {
  const sorted = ms.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
