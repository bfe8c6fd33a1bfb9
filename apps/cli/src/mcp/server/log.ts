// The log of the server goes to stderr: stdout belongs to the protocol.

import { printable } from '@svc/verifier/untrusted'

const MAX_LENGTH = 2000

export type Log = (text: string) => void

/** Writes each text as one printable line. */
export function createLog(stream: { write(text: string): unknown }): Log {
  return (text) => void stream.write(`svc-mcp: ${printable(text, MAX_LENGTH)}\n`)
}
