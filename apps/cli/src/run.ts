import { PaymentError } from '@svc/sdk/errors'
import { CommanderError } from 'commander'
import { EXIT, UsageError } from './errors.ts'
import { createProgram } from './program.ts'
import { report } from './report.ts'
import type { World } from './world.ts'

/** An interruption hides the errors it caused, unless money may have moved. */
function interruptionOr(error: unknown, { aborted, reason }: AbortSignal): unknown {
  const isAboutMoney = error instanceof PaymentError && error.money !== 'not_moved'
  return aborted && !isAboutMoney ? reason : error
}

/** For programs; Commander itself reports the error to people. */
function misuse({ code, message }: CommanderError): UsageError {
  const what = code === 'commander.help' ? 'no command is given' : message.replace(/^error: /, '')
  return new UsageError(what, '`svc --help` lists the commands, `svc COMMAND --help` what one takes')
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  const isJson = argv.includes('--json')
  const program = await createProgram(argv, world, run)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    if (error instanceof CommanderError) return isJson ? report(world, misuse(error), { json: true }) : EXIT.usage
    // The reader of our output has closed the pipe.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return EXIT.ok
    return report(world, interruptionOr(error, world.signal), { json: isJson })
  }
}
