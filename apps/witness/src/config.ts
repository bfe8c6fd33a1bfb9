// The whole configuration, read once from the environment variables; all problems are reported together.

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isKeyName } from '@svc/protocol/transparency/note'
import {
  type HttpSettings,
  readHttpSettings,
  readLogSettings,
  SettingsReader,
  type Variables,
} from '@svc/service/program/config'
import { readOptionalKey, seedIn } from '@svc/service/program/keys'
import type { LogLevel } from '@svc/service/program/log'
import { type MonitorSettings, readMonitorSettings } from './monitor/settings.ts'
import { SETTINGS } from './settings.ts'

export interface Config {
  dataDir: string
  http: HttpSettings
  log: { level: LogLevel }
  /** Part of the key and of every cosignature. */
  name: string
  /** A policy: the witnessed logs, with an address for each monitored one. */
  logsFile: string
  monitor: MonitorSettings
}

export interface Secrets {
  databaseUrl: string
  /** Signs cosignatures. */
  signingSeed: Uint8Array
}

export function readConfig(variables: Variables): { config: Config; secrets: Secrets; namesRead: ReadonlySet<string> } {
  const settings = new SettingsReader(variables, SETTINGS)
  const dataDir = resolve(settings.text('DATA_DIR'))
  // No address is required: logs and verifiers get the addresses of their witnesses from a policy.
  const http = readHttpSettings(settings, 'development')
  const config: Config = {
    dataDir,
    http,
    log: readLogSettings(settings),
    name: settings.text('WITNESS_NAME') || nameOf(http.baseUrl),
    logsFile: resolve(settings.text('WITNESS_LOGS_FILE') || join(dataDir, 'logs.txt')),
    monitor: readMonitorSettings(settings),
  }
  if (!isKeyName(config.name)) settings.problem('WITNESS_NAME must be a name such as witness.example, without spaces')
  const given = readOptionalKey(settings, 'WITNESS_KEY', true)
  settings.done()
  mkdirSync(dataDir, { recursive: true })
  const secrets: Secrets = {
    databaseUrl: `sqlite:${dataDir}/witness.db`,
    signingSeed: given ?? seedIn(join(dataDir, 'witness.key')),
  }
  return { config, secrets, namesRead: settings.namesRead }
}

/** Host and path, without the scheme. */
function nameOf(baseUrl: string): string {
  return baseUrl.replace(/^https?:\/\//, '')
}
