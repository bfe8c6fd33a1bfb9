import type { Command } from 'commander'

/** The words that can follow a command: its subcommands and its options. */
export interface Words {
  /** The command as typed, without `svc`: `operators add`; empty for the program itself. */
  path: string
  description: string
  commands: { name: string; description: string }[]
  options: { flag: string; description: string; takesValue: boolean }[]
}

/** The words of the program and of all its subcommands. */
export function wordsOf(program: Command): Words[] {
  return below(program, '')
}

function below(command: Command, path: string): Words[] {
  const commands = command.createHelp().visibleCommands(command)
  const own: Words = {
    path,
    description: command.description(),
    commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: command.options.map(({ long, short, description, required, optional }) => ({
      flag: long ?? short ?? '',
      description,
      takesValue: required || optional,
    })),
  }
  const children = commands.filter((one) => one.name() !== 'help')
  return [own, ...children.flatMap((one) => below(one, `${path} ${one.name()}`.trim()))]
}
