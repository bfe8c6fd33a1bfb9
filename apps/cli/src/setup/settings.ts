// The settings. An option takes precedence over a variable, and a variable over `config.json`. If an option names the
// profile, its `config.json` takes precedence over variables, which may belong to another gateway.

import { join } from 'node:path'
import { LOCAL_GATEWAY, localAgent } from '@svc/sdk/local-services'
import { UsageError } from '../errors.ts'
import type { Environment } from '../host.ts'
import { readJson, writeJson } from './folder.ts'

export const SETTINGS = {
  gateway: { variable: 'SVC_GATEWAY', about: 'address of the gateway' },
  agent: { variable: 'SVC_AGENT', about: 'address of the agent service' },
  wallet: { variable: 'SVC_WALLET', about: 'file with the key that pays and owns' },
  locker: { variable: 'SVC_LOCKER', about: 'default locker of commands' },
  'primary-rpc': { variable: 'SVC_PRIMARY_RPC', about: 'node of the primary chain that payments are sent to' },
  'evm-rpc': { variable: 'SVC_EVM_RPC', about: 'node of the EVM chain that payments are sent to' },
} as const

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[] // Object.keys loses the literal type

export interface Setting {
  value: string
  /** The source, as text for users: `--gateway`, `SVC_GATEWAY`, the file, or `default`. */
  from: string
}

export type Settings = Record<SettingName, Setting | null>
type Values = Partial<Record<SettingName, string>>

/** The address that `npm start` serves. */
const DEFAULTS: Values = { gateway: LOCAL_GATEWAY }

export async function readSettings(
  folder: string,
  env: Environment,
  options: Values,
  { isFileFirst = false } = {},
): Promise<Settings> {
  const file = configFile(folder)
  const saved = await readValues(file)
  const settingOf = (name: SettingName): Setting | null => {
    const { variable } = SETTINGS[name]
    const [option, fromEnv, fromFile, fallback] = [options[name], env[variable], saved[name], DEFAULTS[name]]
    if (option !== undefined) return { value: option, from: `--${name}` }
    const ofFile = fromFile === undefined ? null : { value: fromFile, from: file }
    if (isFileFirst && ofFile) return ofFile
    if (fromEnv) return { value: fromEnv, from: variable }
    if (ofFile) return ofFile
    return fallback === undefined ? null : { value: fallback, from: 'default' }
  }
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, settingOf(name)])) as Settings
}

/** Null removes the setting. */
export async function saveSetting(folder: string, name: SettingName, value: string | null): Promise<void> {
  const { [name]: _, ...others } = await readValues(configFile(folder))
  await writeJson(configFile(folder), value === null ? others : { ...others, [name]: value })
}

export function configFile(folder: string): string {
  return join(folder, 'config.json')
}

async function readValues(file: string): Promise<Values> {
  const values = (await readJson<Record<string, unknown>>(file)) ?? {}
  for (const [name, value] of Object.entries(values)) {
    if (!isSettingName(name) || typeof value !== 'string')
      throw new UsageError(
        `${file}: ${name} is not a setting, or its value is not text`,
        `settings: ${SETTING_NAMES.join(', ')}`,
      )
  }
  return values as Values // as just checked
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

/** Removes trailing slashes. */
export function gatewayUrl(text: string): string {
  return webAddress(text, 'the gateway').replace(/\/+$/, '')
}

export function agentUrl(text: string): string {
  return webAddress(text, 'the agent service').replace(/\/+$/, '')
}

export function webAddress(text: string, what: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`${JSON.stringify(text)} is not the address of ${what}`, 'for example https://gateway.example')
  if (url.username || url.password) throw new UsageError(`the address of ${what} must not contain a password`)
  return text
}

/** The address of the agent service. For a local gateway the default is the service that `npm start` starts. */
export function agentAddress({ agent }: Settings, gateway: string): string {
  if (agent) return agentUrl(agent.value)
  const local = localAgent(gateway)
  if (local !== null) return local
  throw new UsageError(
    `the agent service of ${gateway} is not known`,
    'give its address with --agent, SVC_AGENT or `svc config set agent URL`',
  )
}
