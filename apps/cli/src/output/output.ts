// The output of a command: results go to stdout, everything else to stderr.

import type { Writable } from 'node:stream'
import type { Host, TextStream } from '../host.ts'
import { NO_PROGRESS, type Progress, showProgress } from './progress.ts'
import { jsonLine, terminalSafe } from './shown.ts'
import { type Style, styleFor } from './style.ts'

export interface OutputOptions {
  json?: boolean
  quiet?: boolean
}

export interface Output {
  readonly isJson: boolean
  /** The style for stdout. */
  readonly style: Style
  /** Writes a result: a line of JSON, or text for people. */
  result(document: unknown, text: () => string): void
  /** One of many items that are done: a result, whose text `--quiet` omits. */
  item(document: unknown, text: () => string): void
  /** Progress and advice for users; omitted with `--json` and `--quiet`. */
  note(text: string): void
  /** Shown even with `--quiet`. */
  warn(text: string): void
  /** Shows progress until the work succeeds or fails. */
  withProgress<T>(label: string, totalBytes: number, work: (progress: Progress) => Promise<T>): Promise<T>
}

export function createOutput({ env, stdout, stderr, now }: Host, options: OutputOptions): Output {
  const { json: isJson = false, quiet: isQuiet = false } = options
  const errorStyle = styleFor(stderr, env)
  let progress = NO_PROGRESS

  function write(stream: TextStream, text: string): void {
    progress.hide()
    stream.write(`${terminalSafe(text)}\n`)
  }

  const result: Output['result'] = (document, text) => write(stdout, isJson ? jsonLine(document) : text())

  return {
    isJson,
    style: styleFor(stdout, env),
    result,
    item(document, text) {
      if (isJson || !isQuiet) result(document, text)
    },
    note(text) {
      if (!isJson && !isQuiet) write(stderr, text)
    },
    warn: (text) => write(stderr, isJson ? jsonLine({ warning: text }) : `${errorStyle.strong('warning:')} ${text}`),
    async withProgress(label, totalBytes, work) {
      if (stderr.isTTY && !isQuiet) progress = showProgress(stderr, label, totalBytes, now)
      try {
        return await work(progress)
      } finally {
        progress.hide()
        progress = NO_PROGRESS
      }
    },
  }
}

/** Resolves when the stream has accepted the bytes; rejects if it is closed. */
export function written(stream: Writable, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
}
