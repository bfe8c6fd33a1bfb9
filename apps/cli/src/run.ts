import { NoAnswer, PaymentError } from '@svc/sdk/errors'
import { type Command, CommanderError } from 'commander'
import { EXIT, UsageError } from './errors.ts'
import type { Host } from './host.ts'
import { createProgram } from './program.ts'
import { report } from './report.ts'

/** An interruption hides the errors it caused, unless money may have moved. */
function interruptionOr(error: unknown, { aborted, reason }: AbortSignal): unknown {
  const isAboutMoney = error instanceof PaymentError && error.money !== 'not_moved'
  return aborted && !isAboutMoney ? reason : error
}

/** Reported to programs; users have seen the help instead. */
function noCommand(): UsageError {
  return new UsageError('no command is given', '`svc --help` lists the commands, `svc COMMAND --help` explains one')
}

/** A usage error without advice points to the help of its command. */
function withAdvice(error: unknown, { args: [name = ''], commands }: Command): unknown {
  const isBare =
    error instanceof UsageError &&
    error.hint === null &&
    commands.some((one) => [one.name(), ...one.aliases()].includes(name))
  return isBare ? new UsageError(error.message, `see: svc ${name} --help`) : error
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], host: Host): Promise<number> {
  const isJson = argv.includes('--json')
  const program = await createProgram(argv, host, run)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    if (error instanceof CommanderError) return isJson ? report(host, noCommand(), { json: true }) : EXIT.usage
    // The reader of the output has closed the pipe.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return EXIT.ok
    const reported = withAdvice(interruptionOr(error, host.signal), program)
    const hint = reported instanceof NoAnswer ? await (await import('./setup/local-hint.ts')).localHint(reported) : null
    return report(host, reported, { json: isJson, hint, isUpload: ['put', 'upload'].includes(program.args[0] ?? '') })
  }
}
