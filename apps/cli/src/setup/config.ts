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
  const config = program.command('config').description('settings, and where each comes from')
  const name = () => new Argument('<name>', 'which setting').choices(SETTING_NAMES)
  config
    .command('show', { isDefault: true })
    .description('show all settings, as `svc config` alone does')
    .action(async (_: object, command: Command) => show(await open(command)))
  config
    .command('set')
    .description('set one, for all commands from here on')
    .addArgument(name())
    .argument('<value>', 'an address, a file or a locker')
    .action(async (setting: SettingName, value: string, _: object, command: Command) =>
      set(await open(command), setting, value),
    )
  config
    .command('unset')
    .description('forget one')
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
  const kept = checkedSetting(name, value)
  await saveSetting(folder, name, kept)
  output.result({ [name]: kept }, () => `${name} is ${kept}`)
}

async function unset({ output, folder }: Session, name: SettingName): Promise<void> {
  await saveSetting(folder, name, null)
  output.result({ [name]: null }, () => `${name} is no longer set`)
}

/** The value as it is kept; throws for one that cannot be. */
export function checkedSetting(name: SettingName, value: string): string {
  if (name === 'gateway') return gatewayUrl(value)
  if (name === 'agent') return agentUrl(value)
  if (name === 'wallet') return resolve(value)
  return name === 'primary-rpc' || name === 'evm-rpc' ? webAddress(value, 'a node') : value
}
