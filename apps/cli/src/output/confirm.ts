import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { UsageError } from '../errors.ts'
import type { Host } from '../host.ts'

/** Whether a person can answer a question. */
function isAttended({ stdin, stderr }: Host): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** Asks before an action that cannot be undone. Without a terminal, `--yes` is required. */
export async function confirm(host: Host, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true
  if (!isAttended(host)) throw new UsageError(`${question} There is no terminal to ask on`, 'in scripts, add --yes')
  return /^y(es)?$/i.test((await askLine(host, `${question} [y/N]`)).trim())
}

async function askLine(host: Host, question: string): Promise<string> {
  // In terminal mode readline would intercept Ctrl-C.
  const terminal = createInterface({ input: host.stdin, output: host.stderr, terminal: false })
  const isOver = once(terminal, 'close').then(() => '')
  try {
    return await Promise.race([terminal.question(`${question} `, { signal: host.signal }), isOver])
  } finally {
    terminal.close()
  }
}
