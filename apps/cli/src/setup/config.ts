import { resolve } from 'node:path'
import { Argument, type Command } from 'commander'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import {
  agentUrl,
  configFile,
  gatewayUrl,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  saveSetting,
  webAddress,
} from './settings.ts'

export function add(program: Command, open: Open): void {
  const config = program.command('config').description('show settings and their sources')
  const name = () => new Argument('<name>', 'which setting').choices(SETTING_NAMES)
  config
    .command('show', { isDefault: true })
    .description('show all settings, like `svc config` without a subcommand')
    .action(async (_: object, command: Command) => show(await open(command)))
  config
    .command('set')
    .description('set a value for all later commands')
    .addArgument(name())
    .argument('<value>', 'an address, a file or a locker')
    .action(async (setting: SettingName, value: string, _: object, command: Command) =>
      set(await open(command), setting, value),
    )
  config
    .command('unset')
    .description('remove a value')
    .addArgument(name())
    .action(async (setting: SettingName, _: object, command: Command) => unset(await open(command), setting))
}

function show({ output, settings, folder, profile }: Session): void {
  output.result({ profile: profile.name, file: configFile(folder), settings }, () => {
    const columns = ['SETTING', 'VALUE', 'FROM', 'MEANING'].map((title) => ({ title }))
    const rows = SETTING_NAMES.map((name) => [
      name,
      settings[name]?.value ?? '-',
      settings[name]?.from ?? '',
      SETTINGS[name].about,
    ])
    return table(columns, rows)
  })
}

async function set({ output, folder }: Session, name: SettingName, value: string): Promise<void> {
  const stored = checkedSetting(name, value)
  await saveSetting(folder, name, stored)
  output.result({ [name]: stored }, () => `${name} is ${stored}`)
}

async function unset({ output, folder }: Session, name: SettingName): Promise<void> {
  await saveSetting(folder, name, null)
  output.result({ [name]: null }, () => `${name} is no longer set`)
}

/** The value to store; throws if it is invalid. */
export function checkedSetting(name: SettingName, value: string): string {
  if (name === 'gateway') return gatewayUrl(value)
  if (name === 'agent') return agentUrl(value)
  if (name === 'wallet') return resolve(value)
  return name === 'primary-rpc' || name === 'evm-rpc' ? webAddress(value, 'a node') : value
}
