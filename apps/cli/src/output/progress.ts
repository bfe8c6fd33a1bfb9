// One line that shows the progress of a transfer; on a terminal only.

import type { TextStream } from '../host.ts'
import { bytesText, durationText } from './quantities.ts'
import { width } from './table.ts'

export interface Progress {
  add(bytes: number): void
  /** Clears the line for other text; the next update redraws it. */
  hide(): void
}

export const NO_PROGRESS: Progress = { add: () => {}, hide: () => {} }

const REDRAW_MS = 100
const CLEAR = '\r\u001b[K'

export function showProgress(stream: TextStream, label: string, total: number, now: () => number): Progress {
  const began = now()
  let done = 0
  let drawn = began
  let isVisible = false

  function draw(): void {
    const seconds = (now() - began) / 1000
    const line = progressLine(label, done, total, seconds)
    const columns = stream.columns ?? 80
    stream.write(CLEAR + (width(line) < columns ? line : line.slice(0, columns - 1)))
    isVisible = true
  }

  return {
    add(bytes) {
      done += bytes
      if (now() - drawn < REDRAW_MS) return
      drawn = now()
      draw()
    },
    hide() {
      if (isVisible) stream.write(CLEAR)
      isVisible = false
    },
  }
}

/** `put  45%  12.3 MiB of 27.4 MiB  3.10 MiB/s  5 seconds left` */
export function progressLine(label: string, done: number, total: number, seconds: number): string {
  const share = total === 0 ? 100 : Math.floor((100 * done) / total)
  const rate = seconds > 0 ? done / seconds : 0
  const left = rate > 0 ? `  ${durationText((total - done) / rate)} left` : ''
  return `${label}  ${share}%  ${bytesText(done)} of ${bytesText(total)}  ${bytesText(Math.round(rate))}/s${left}`
}
