// The log of the server, on stderr: stdout belongs to the protocol.

import { printable } from '@svc/verifier/untrusted'

const MAX_LENGTH = 2000

export type Log = (text: string) => void

/** On one line, whatever it holds. */
export function createLog(stream: { write(text: string): unknown }): Log {
  return (text) => void stream.write(`svc-mcp: ${printable(text, MAX_LENGTH)}\n`)
}
