// Sources, memory and rows for the benchmarks of all drivers.

import { once } from 'node:events'
import { Readable } from 'node:stream'
import { median, type Row } from '../row.ts'
import { scaled } from '../scale.ts'

export const MEBIBYTE = 1_048_576
export const SIZE = scaled(256, 32) * MEBIBYTE
export const ROUNDS = scaled(2, 1)

/** A piece as long as the chunks of a request. */
const PIECE = Buffer.alloc(65_536, 'svc')
const SAMPLE_MS = 20

export function source(length = SIZE, piece = PIECE): Readable {
  let left = length
  return new Readable({
    highWaterMark: piece.length,
    read() {
      this.push(left >= piece.length ? piece : left > 0 ? piece.subarray(0, left) : null)
      left -= piece.length
    },
  })
}

export async function drain(stream: Readable, length = SIZE): Promise<void> {
  let received = 0
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  await once(stream, 'end')
  if (received !== length) throw new Error(`received ${received} bytes`)
}

/** The largest growth of this process's memory during the work, in MiB. */
export async function extraMemory(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, SAMPLE_MS)
  await work()
  clearInterval(sampling)
  return (peak - before) / MEBIBYTE
}

export interface Compared {
  what: string
  /** Seconds of each round. */
  ours: readonly number[]
  against: string
  theirs: readonly number[]
  size?: number
  atLeast?: number
}

export function speedRow({ what, ours, against, theirs, size = SIZE, atLeast = 0.8 }: Compared): Row {
  const speed = (seconds: readonly number[]) => `${(size / MEBIBYTE / median(seconds)).toFixed(0)} MiB/s`
  return {
    what,
    measured: speed(ours),
    against: `${against}: ${speed(theirs)}`,
    ratio: median(theirs) / median(ours),
    goal: { atLeast },
  }
}

export function memoryRow(what: string, extraMib: number, boundMib: number): Row {
  return {
    what,
    measured: `${extraMib.toFixed(0)} MiB more than before`,
    against: `${boundMib} MiB`,
    ratio: extraMib / boundMib,
    goal: { atMost: 1 },
  }
}
