// The whole configuration, read once from the environment variables; all problems are reported together.

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import {
  type HttpSettings,
  type Mode,
  readHttpSettings,
  readLogSettings,
  SettingsReader,
  type Variables,
} from '@svc/service/program/config'
import { readKey, refuseSharedKeys } from '@svc/service/program/keys'
import type { LogLevel } from '@svc/service/program/log'
import { readTracingSettings, type TracingConfig, type TracingSecrets } from '@svc/service/tracing/requests'
import { type CallerLimits, readCallerLimits } from './callers/settings.ts'
import { type DelegationSettings, readDelegationSettings } from './delegations/settings.ts'
import { type GatewaySettings, readGatewaySettings } from './gateway/settings.ts'
import { RENAMED_SETTINGS, SETTINGS } from './settings.ts'
import { type PaymentSettings, readPaymentSettings } from './subscriptions/settings.ts'
import { readWorkSettings, type WorkSettings } from './work/settings.ts'

export interface Config {
  mode: Mode
  dataDir: string
  http: HttpSettings
  log: { level: LogLevel }
  tracing: TracingConfig | null
  gateway: GatewaySettings
  payments: PaymentSettings
  delegations: DelegationSettings
  work: WorkSettings
  limits: CallerLimits
  /** 0 disables the comparison of the clock with PostgreSQL's. */
  clockToleranceSeconds: number
  jobs: { enabled: boolean }
}

export interface Secrets extends SalesSecrets, TracingSecrets {
  databaseUrl: string
  /** Signs receipts and findings. */
  signingSeed: Uint8Array
  /** The key of every delegation and the secret of its webhook are derived from it. */
  delegationSeed: Uint8Array
}

export function readConfig(variables: Variables): { config: Config; secrets: Secrets; namesRead: ReadonlySet<string> } {
  const settings = new SettingsReader(variables, SETTINGS, RENAMED_SETTINGS)
  const mode = settings.oneOf('SVC_MODE', ['production', 'development'])
  const dataDir = resolve(settings.text('DATA_DIR'))
  const [payments, salesSecrets] = readPaymentSettings(settings, mode)
  const [tracing, tracingSecrets] = readTracingSettings(settings)
  const config: Config = {
    mode,
    dataDir,
    http: readHttpSettings(settings, mode),
    log: readLogSettings(settings),
    tracing,
    gateway: readGatewaySettings(settings, mode),
    payments,
    delegations: readDelegationSettings(settings),
    work: readWorkSettings(settings),
    limits: readCallerLimits(settings),
    clockToleranceSeconds: settings.integer('CLOCK_TOLERANCE_SECONDS', { min: 0, max: 3600 }),
    jobs: { enabled: settings.flag('RUN_JOBS') },
  }
  const secrets: Secrets = {
    ...salesSecrets,
    ...tracingSecrets,
    databaseUrl: settings.text('DATABASE_URL') || `sqlite:${dataDir}/agent.db`,
    signingSeed: readKey(settings, { mode, dataDir, variable: 'AGENT_KEY', name: 'agent' }),
    delegationSeed: readKey(settings, { mode, dataDir, variable: 'DELEGATION_KEY', name: 'delegation' }),
  }
  refuseSharedKeys(settings, [
    ['AGENT_KEY', secrets.signingSeed],
    ['DELEGATION_KEY', secrets.delegationSeed],
  ])
  settings.done()
  mkdirSync(dataDir, { recursive: true })
  return { config, secrets, namesRead: settings.namesRead }
}
