// Usage errors in one line: what is wrong with the arguments, and where to read more.

import { Command } from 'commander'
import { Misuse } from './errors.ts'

/** A command whose usage errors are ours: Commander's own would take several lines. */
export class SvcCommand extends Command {
  override createCommand(name?: string): SvcCommand {
    return new SvcCommand(name)
  }

  override error(message: string): never {
    throw new Misuse(pathOf(this), problemText(message))
  }
}

/** The subcommand that runs if none is given; null if there is none. Commander keeps its name to itself. */
export function defaultOf(command: Command): Command | null {
  const { _defaultCommandName: name } = command as unknown as { _defaultCommandName: string | null }
  return command.commands.find((one) => one.name() === name) ?? null
}

/** `svc wallet new` */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function problemText(message: string): string {
  return (
    message
      .replace(/^error: /, '')
      // The value may be a private key, so it is not repeated.
      .replace(
        /^command-argument value '.*' is invalid for argument '(.*?)'\. /s,
        (_, name: string) => `${name.toUpperCase()}: `,
      )
      .replace(/^option '(.*?)' argument '.*' is invalid\. /s, '$1: ')
      .replace(/^missing required argument '(.*)'$/, (_, name: string) => `missing ${name.toUpperCase()}`)
      .replace(
        /^too many arguments(?: for '.*?')?\. Expected (\d+) .* but got (\d+)\b.*$/s,
        'too many arguments: $2, not $1',
      )
      .replace(/^(unknown (?:option|command)) '(.*)'/, '$1 $2')
      .replace(/\n\(Did you mean (.*)\?\)$/, ' (did you mean $1?)')
      .replace(/\.$/, '')
  )
}
