// Every setting of the gateway, read once, with all problems reported at once. Secrets are separate, so that the config
// can be logged.

import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { ROLES } from '@svc/api/networks'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import {
  type HttpSettings,
  type Mode,
  readHttpSettings,
  readLogSettings,
  SettingsReader,
  type Variables,
} from '@svc/service/program/config'
import { NO_KEY, readKey, refuseSharedKeys } from '@svc/service/program/keys'
import type { LogLevel } from '@svc/service/program/log'
import { readTracingSettings, type TracingConfig, type TracingSecrets } from '@svc/service/tracing/requests'
import { readS3Config, type S3Config } from './adapters/s3/settings.ts'
import { type LimitConfig, readRates, requestLimits } from './auth/rates.ts'
import {
  type ActorConfig,
  type AuthSecrets,
  type OidcConfig,
  readActors,
  readAuthSecrets,
  readOidc,
} from './auth/settings.ts'
import { type BudgetConfig, readBudgetConfig } from './budgets/settings.ts'
import { type ContinuityConfig, readContinuityConfig } from './continuity/settings.ts'
import { type DatabaseConfig, readDatabaseConfig } from './db/settings.ts'
import { type AttestConfig, readAttestConfig } from './evidence/settings.ts'
import { readStorageConfig, type StorageConfig, type StorageSecrets } from './files/settings.ts'
import { type KeyConfig, type KeySecrets, readKeyConfig, readKeySecrets, seedOf } from './keys/settings.ts'
import { type LockerConfig, readLockerConfig } from './lockers/settings.ts'
import { type PagesConfig, readPagesConfig } from './pages/settings.ts'
import {
  type EvmRegistryConfig,
  type EvmRegistrySecrets,
  readEvmRegistrySettings,
} from './publication/evm-registry/settings.ts'
import {
  readTransparencySettings,
  type TransparencyConfig,
  type TransparencySecrets,
} from './publication/log/settings.ts'
import { type AnchorConfig, readAnchorConfig } from './publication/settings.ts'
import {
  type PaymentConfig,
  readPaymentConfig,
  readX402Settings,
  withEnforcedNotice,
  withStorageNotice,
  type X402Config,
  type X402Secrets,
} from './purchases/settings.ts'
import { RENAMED_SETTINGS } from './renamed-settings.ts'
import { SETTINGS } from './settings.ts'
import { type EvidenceConfig, readEvidenceConfig } from './views/evidence/settings.ts'

export interface Config {
  mode: Mode
  dataDir: string
  http: HttpSettings
  log: { level: LogLevel }
  tracing: TracingConfig | null
  evidence: EvidenceConfig
  keys: KeyConfig
  payments: PaymentConfig
  storage: StorageConfig
  limits: LimitConfig
  lockers: LockerConfig
  attestations: AttestConfig
  anchors: AnchorConfig
  budgets: BudgetConfig
  continuity: ContinuityConfig
  transparency: TransparencyConfig
  evmRegistry: EvmRegistryConfig | null
  database: DatabaseConfig
  /** How many processes of this gateway share its port. */
  processes: number
  /** Whether this process works on jobs. */
  jobs: { enabled: boolean }
  pages: PagesConfig
  s3: S3Config
  x402: X402Config
  sponsors: OidcConfig | null
  internal: { oidc: OidcConfig | null; actors: ActorConfig }
}

export interface Secrets
  extends AuthSecrets,
    SalesSecrets,
    X402Secrets,
    EvmRegistrySecrets,
    StorageSecrets,
    KeySecrets,
    TracingSecrets,
    TransparencySecrets,
    OwnSecrets {}

interface OwnSecrets {
  databaseUrl: string
  /** Signs transactions that publish statements. */
  publicationSeed: Uint8Array
  /** Signs short-URL tokens. */
  shortUrlSeed: Uint8Array
}

interface Read {
  config: Config
  secrets: Secrets
}

export function readConfig(variables: Variables): Read & { namesRead: ReadonlySet<string> } {
  const settings = new SettingsReader(variables, SETTINGS, RENAMED_SETTINGS)
  const read = readAll(settings)
  settings.done()
  mkdirSync(read.config.dataDir, { recursive: true })
  return { ...read, namesRead: settings.namesRead }
}

/** The config that would be read, and the problems with it. Writes nothing. */
export function checkConfig(variables: Variables): Read & { problems: string[] } {
  const settings = new SettingsReader(variables, SETTINGS, RENAMED_SETTINGS, { isCheck: true })
  return { ...readAll(settings), problems: settings.problems() }
}

function readAll(settings: SettingsReader): Read {
  const mode = settings.oneOf('SVC_MODE', ['production', 'development'])
  const isProduction = mode === 'production'
  const dataDir = resolve(settings.text('DATA_DIR'))
  const rates = readRates(settings)
  const [payments, paymentSecrets] = readPaymentConfig(settings, isProduction)
  const [x402, x402Secrets] = readX402Settings(settings, payments, isProduction)
  const [evmRegistry, evmRegistrySecrets] = readEvmRegistrySettings(settings, payments, isProduction)
  const [storage, storageSecrets] = readStorageConfig(settings, isProduction, dataDir)
  const http = readHttpSettings(settings, mode)
  const [tracing, tracingSecrets] = readTracingSettings(settings)
  const lockers = readLockerConfig(settings, mode)
  const terms = isProduction ? withStorageNotice(payments.terms, storage.drivers) : payments.terms
  const keySecrets = readKeySecrets(settings, mode, dataDir)
  const ownSecrets = readOwnSecrets(settings, mode, dataDir)
  const databaseLocation = { databaseUrl: ownSecrets.databaseUrl, dataDir }
  const [transparency, transparencySecrets] = readTransparencySettings(settings, {
    mode,
    baseUrl: http.baseUrl,
    databaseLocation,
  })
  const config: Config = {
    mode,
    dataDir,
    http,
    log: readLogSettings(settings),
    tracing,
    evidence: readEvidenceConfig(settings, mode),
    keys: readKeyConfig(settings),
    payments: { ...payments, terms: withEnforcedNotice(terms, lockers.enforcesTerms) },
    storage,
    limits: requestLimits(rates),
    lockers,
    attestations: readAttestConfig(settings, rates),
    anchors: readAnchorConfig(settings, payments.chains.has(ROLES.publication)),
    budgets: readBudgetConfig(settings, rates),
    continuity: readContinuityConfig(settings, databaseLocation),
    transparency,
    evmRegistry,
    database: readDatabaseConfig(settings),
    processes: readProcesses(settings, ownSecrets.databaseUrl),
    jobs: { enabled: settings.flag('RUN_JOBS') },
    pages: readPagesConfig(settings),
    s3: readS3Config(settings, mode),
    x402,
    sponsors: readOidc(settings, 'SPONSOR_OIDC', mode),
    internal: { oidc: readOidc(settings, 'INTERNAL_OIDC', mode), actors: readActors(settings, mode) },
  }
  const secrets = {
    ...ownSecrets,
    ...keySecrets,
    ...paymentSecrets,
    ...x402Secrets,
    ...evmRegistrySecrets,
    ...storageSecrets,
    ...tracingSecrets,
    ...transparencySecrets,
    ...readAuthSecrets(settings, mode),
  }
  refuseSharedKeys(settings, [
    ['STATEMENT_KEY', seedOf(secrets.statementKey)],
    ['STATEMENT_KEY_NEXT', seedOf(secrets.nextStatementKey)],
    ['PUBLICATION_KEY', secrets.publicationSeed],
    ['SHORT_URL_KEY', secrets.shortUrlSeed],
    ['LOG_KEY', secrets.logSeed ?? NO_KEY],
    ['X402_SVM_FEE_PAYER_KEY', secrets.svmFeePayerSeed ?? NO_KEY],
    ['X402_EVM_FACILITATOR_KEY', secrets.evmFacilitatorKey ?? NO_KEY],
    ['EVM_REGISTRY_KEY', secrets.evmRegistryKey ?? NO_KEY],
  ])
  return { config, secrets }
}

const MAX_PROCESSES = 256

/** By default all cores are used. SQLite has one writer: a second process would block while it waits for the first. */
function readProcesses(settings: SettingsReader, databaseUrl: string): number {
  const isSqlite = databaseUrl.startsWith('sqlite:')
  const byDefault = isSqlite ? 1 : availableParallelism()
  const isSet = settings.text('PROCESSES') !== ''
  const processes = isSet ? settings.integer('PROCESSES', { min: 1, max: MAX_PROCESSES }) : byDefault
  if (isSqlite && processes > 1) {
    settings.problem(
      `PROCESSES is ${processes}, but SQLite serves one process: set DATABASE_URL to a PostgreSQL database, or PROCESSES to 1`,
    )
  }
  return processes
}

function readOwnSecrets(settings: SettingsReader, mode: Mode, dataDir: string): OwnSecrets {
  const key = (variable: string, name: string) => readKey(settings, { mode, dataDir, variable, name })
  return {
    databaseUrl: settings.text('DATABASE_URL') || `sqlite:${dataDir}/gateway.db`,
    publicationSeed: key('PUBLICATION_KEY', 'publication'),
    shortUrlSeed: key('SHORT_URL_KEY', 'short-url'),
  }
}
