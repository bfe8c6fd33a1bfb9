import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { UsageError } from '../errors.ts'
import type { World } from '../world.ts'

/** Whether a person can answer a question. */
function isAttended({ stdin, stderr }: World): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** Asks before an action that cannot be undone. Without a terminal, `--yes` is required. */
export async function confirm(world: World, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true
  if (!isAttended(world)) throw new UsageError(`${question} There is no terminal to ask on`, 'in scripts, add --yes')
  return /^y(es)?$/i.test((await askLine(world, `${question} [y/N]`)).trim())
}

async function askLine(world: World, question: string): Promise<string> {
  // In terminal mode readline would intercept Ctrl-C.
  const terminal = createInterface({ input: world.stdin, output: world.stderr, terminal: false })
  const isOver = once(terminal, 'close').then(() => '')
  try {
    return await Promise.race([terminal.question(`${question} `, { signal: world.signal }), isOver])
  } finally {
    terminal.close()
  }
}
