import { PaymentError } from '@svc/sdk/errors'
import { CommanderError } from 'commander'
import { EXIT } from './failures.ts'
import { createProgram } from './program.ts'
import { report } from './report.ts'
import type { World } from './world.ts'

/** Whatever an interruption broke is not what people need to read; what became of their money is. */
function interruptionOr(error: unknown, { aborted, reason }: AbortSignal): unknown {
  const isAboutMoney = error instanceof PaymentError && error.money !== 'not_moved'
  return aborted && !isAboutMoney ? reason : error
}

/** Carries out one command line; its exit code. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  const program = await createProgram(argv, world)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    // Commander has said what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return report(world, interruptionOr(error, world.signal), { json: argv.includes('--json') })
  }
}
