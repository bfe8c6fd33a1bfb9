// Everything an operator of the agent service can set, read once, all problems told at once.

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type HttpSettings,
  type Mode,
  readHttpSettings,
  readLogSettings,
  SettingsReader,
  type Variables,
} from '@svc/http-service/config'
import { readKey, refuseSharedKeys } from '@svc/http-service/keys'
import type { LogLevel } from '@svc/http-service/log'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { readSalesConfig, type SalesConfig, type SalesSecrets, usd } from '@svc/sales/settings'

export interface Config {
  mode: Mode
  dataDir: string
  http: HttpSettings
  log: { level: LogLevel }
  /** Whose lockers the agent works on. */
  gateway: { url: string; pinnedKeys: string[] }
  payments: SalesConfig & { subscriptionUsd: string }
  delegations: { maxPerIdentity: number; watchMaxBytes: number }
  limits: { perAddress: number; perIdentity: number }
  jobs: { areDoneHere: boolean }
}

export interface Secrets extends SalesSecrets {
  databaseUrl: string
  /** Signs receipts and findings. */
  signingSeed: Uint8Array
  /** The keys of all delegations and the secrets of their webhooks are derived from it. */
  delegationSeed: Uint8Array
}

const GIBIBYTE = 1_073_741_824

export function readConfig(variables: Variables): { config: Config; secrets: Secrets; asked: Map<string, string> } {
  const settings = new SettingsReader(variables)
  const mode = settings.oneOf('SVC_MODE', ['development', 'production'], 'production')
  const dataDir = resolve(settings.text('DATA_DIR', './data/agent'))
  const [payments, salesSecrets] = readSalesConfig(settings, mode === 'production')
  const config: Config = {
    mode,
    dataDir,
    http: readHttpSettings(settings, mode, 8403),
    log: readLogSettings(settings),
    gateway: { url: gatewayUrl(settings, mode), pinnedKeys: gatewayKeys(settings) },
    payments: { ...payments, subscriptionUsd: usd(settings, 'SUBSCRIPTION_USD', '5') },
    delegations: {
      maxPerIdentity: settings.integer('MAX_DELEGATIONS', 20, { min: 1, max: 10_000 }),
      watchMaxBytes: settings.integer('WATCH_MAX_BYTES', GIBIBYTE, { min: 0, max: Number.MAX_SAFE_INTEGER }),
    },
    limits: {
      perAddress: settings.integer('RATE_LIMIT_ADDRESS', 60, { min: 0, max: 1_000_000 }),
      perIdentity: settings.integer('RATE_LIMIT_IDENTITY', 60, { min: 0, max: 1_000_000 }),
    },
    jobs: { areDoneHere: settings.oneOf('RUN_JOBS', ['true', 'false'], 'true') === 'true' },
  }
  const secrets: Secrets = {
    ...salesSecrets,
    databaseUrl: settings.text('DATABASE_URL', `sqlite:${dataDir}/agent.db`),
    signingSeed: readKey(settings, { mode, dataDir, variable: 'AGENT_KEY', name: 'agent' }),
    delegationSeed: readKey(settings, { mode, dataDir, variable: 'DELEGATION_KEY', name: 'delegation' }),
  }
  settings.asked.set('DATABASE_URL', 'sqlite:<DATA_DIR>/agent.db')
  refuseSharedKeys(settings, [
    ['AGENT_KEY', secrets.signingSeed],
    ['DELEGATION_KEY', secrets.delegationSeed],
  ])
  settings.done()
  mkdirSync(dataDir, { recursive: true })
  return { config, secrets, asked: settings.asked }
}

function gatewayUrl(settings: SettingsReader, mode: Mode): string {
  if (mode === 'production' && settings.text('GATEWAY_URL') === '') {
    settings.problem('GATEWAY_URL must be the address of the gateway whose lockers are worked on')
  }
  const url = settings.url('GATEWAY_URL', 'http://localhost:8402')
  // It is shown to everybody, and no client can use it.
  if (URL.parse(url)?.username) settings.problem('GATEWAY_URL must not hold a user name or password')
  return url
}

function gatewayKeys(settings: SettingsReader): string[] {
  const keys = settings.text('GATEWAY_KEYS').split(',').filter(Boolean)
  if (keys.some((key) => !ed25519PublicKeyFromHex(key.toLowerCase())))
    settings.problem('GATEWAY_KEYS must be public keys, 64 hex characters each, with commas between')
  return keys
}
