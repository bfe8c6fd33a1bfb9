// The story of a locker, told by the commands that a user would type, each of which must end as it should.

import { Writable } from 'node:stream'
import { EXIT, Failure } from '../failures.ts'
import { run } from '../run.ts'
import type { Session } from '../session.ts'
import type { Step } from './steps.ts'

export async function play({ output, world }: Session, env: NodeJS.ProcessEnv, steps: readonly Step[]): Promise<void> {
  const { isJson } = output
  const inner = { ...world, env, ...(isJson && { stdout: nowhere(), stderr: nowhere() }) }
  for (const [index, { title, command, args, exit = EXIT.ok, before }] of steps.entries()) {
    await before?.()
    output.note(`\n${index + 1}. ${title}\n   $ ${command}\n`)
    const exit_code = await run(args, inner)
    if (isJson) output.result({ step: title, command, exit_code, ok: exit_code === exit }, () => '')
    world.signal.throwIfAborted()
    if (exit_code !== exit) throw new Failure(`"${title}" ended with ${exit_code} instead of ${exit}`)
  }
  output.note('\nThe honest files verified, and the tampered one was found and named.')
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
