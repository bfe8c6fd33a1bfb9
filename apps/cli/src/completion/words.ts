import { ASSETS } from '@svc/api/assets'
import type { Command, Option } from 'commander'
import { FACTS } from '../evidence/fact-meanings.ts'
import { defaultOf } from '../usage.ts'
import type { Completed } from './complete.ts'

/** The values that can be completed: fixed ones, or those that `svc complete` prints. */
export type Values = { fixed: readonly string[] } | { dynamic: Completed }

/** The words that can follow a command: its subcommands, options and arguments. */
export interface Words {
  /** The command as typed, without `svc`: `operators add`; empty for the program itself. */
  path: string
  description: string
  commands: { name: string; description: string }[]
  options: OptionWords[]
  /** The values of its arguments; null for files and free text. */
  values: Values | null
}

interface OptionWords {
  flag: string
  /** `-l`; null without a short form. */
  short: string | null
  description: string
  takesValue: boolean
  values: Values | null
}

/** The words of the program and of all its subcommands. */
export function wordsOf(program: Command): Words[] {
  return below(program, '')
}

/** Commands whose `<name>` is that of a profile. */
const NAMES_PROFILE = ['profile use', 'profile rm']

function below(command: Command, path: string): Words[] {
  const commands = command.createHelp().visibleCommands(command)
  const [argument] = command.registeredArguments
  const own: Words = {
    path,
    description: command.description(),
    commands: commands.flatMap((one) =>
      [one.name(), ...one.aliases()].map((name) => ({ name, description: one.description() })),
    ),
    options: [...command.options, ...(defaultOf(command)?.options ?? [])].map(optionWords),
    values: argument ? valuesOf(NAMES_PROFILE.includes(path) ? 'profile' : argument.name(), argument.argChoices) : null,
  }
  const children = commands.filter((one) => one.name() !== 'help')
  return [
    own,
    ...children.flatMap((one) =>
      [one.name(), ...one.aliases()].flatMap((name) => below(one, `${path} ${name}`.trim())),
    ),
  ]
}

/** The values of options, by all forms of the option. Commands may have options of one name with different values. */
export function optionValues(words: readonly Words[]): [forms: string[], values: Values][] {
  const found = new Map<string, [forms: string[], values: Values]>()
  for (const { flag, short, values } of words.flatMap(({ options }) => options)) {
    if (!values) continue
    const before = found.get(flag)?.[1]
    const both =
      before && 'fixed' in before && 'fixed' in values
        ? { fixed: [...new Set([...before.fixed, ...values.fixed])] }
        : values
    found.set(flag, [short === null ? [flag] : [short, flag], both])
  }
  return [...found.values()]
}

function optionWords({ long, short, description, required, optional, argChoices }: Option): OptionWords {
  const flag = long ?? short ?? ''
  const takesValue = required || optional
  const values = takesValue ? valuesOf(flag.replace(/^--/, ''), argChoices) : null
  return { flag, short: long && short ? short : null, description, takesValue, values }
}

/** The values of options and arguments with these names. */
const NAMED: Readonly<Record<string, Values>> = {
  locker: { dynamic: 'lockers' },
  profile: { dynamic: 'profiles' },
  asset: { fixed: [...new Set(ASSETS.map(({ ticker }) => ticker))] },
  require: { fixed: FACTS },
}

function valuesOf(name: string, choices: readonly string[] | undefined): Values | null {
  return choices ? { fixed: choices } : (NAMED[name] ?? null)
}
