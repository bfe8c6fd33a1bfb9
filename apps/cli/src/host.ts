// The environment, streams and clock of the process, as commands see them.

import type { Readable, Writable } from 'node:stream'

export type Environment = Readonly<Record<string, string | undefined>>

export interface TextStream extends Writable {
  isTTY?: boolean
  columns?: number
}

/** Runs a command line and returns its exit code. */
export type Run = (argv: readonly string[], host: Host) => Promise<number>

export interface Host {
  env: Environment
  stdin: Readable & { isTTY?: boolean }
  stdout: TextStream
  stderr: TextStream
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  /** Unix milliseconds. */
  now: () => number
}
