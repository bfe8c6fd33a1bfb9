import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { UsageError } from '../errors.ts'
import type { World } from '../world.ts'

/** Whether a person can answer. */
function isAttended({ stdin, stderr }: World): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** Asks before something that cannot be undone. Without a terminal only `--yes` is an answer. */
export async function agrees(world: World, isYes: boolean, question: string): Promise<boolean> {
  if (isYes) return true
  if (!isAttended(world)) throw new UsageError(`${question} Nobody is there to answer`, 'in scripts, add --yes')
  // Not as a terminal: readline would take Ctrl-C for itself.
  const terminal = createInterface({ input: world.stdin, output: world.stderr, terminal: false })
  const isOver = once(terminal, 'close').then(() => '')
  try {
    const asked = terminal.question(`${question} [y/N] `, { signal: world.signal })
    const answer = await Promise.race([asked, isOver])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    terminal.close()
  }
}
