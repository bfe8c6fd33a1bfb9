import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { UsageError } from '../errors.ts'
import type { Host } from '../host.ts'

/** Asks on the terminal without showing what is typed. */
export async function askSecret(host: Host, question: string): Promise<string> {
  const { stdin, stderr, signal } = host
  if (!stdin.isTTY) throw new UsageError(`${question}: there is no terminal to ask on`)
  stderr.write(`${question}: `)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: stdin, output: hidden, terminal: true })
  try {
    return await terminal.question('', { signal })
  } finally {
    terminal.close()
    stderr.write('\n')
  }
}

/** Reads a secret from a pipe, or asks for it. */
export async function readSecret(host: Host, question: string): Promise<string> {
  return host.stdin.isTTY ? askSecret(host, question) : text(host.stdin)
}
