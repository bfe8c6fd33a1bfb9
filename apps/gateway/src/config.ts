// Everything an operator can set, read once, all problems told at once. Secrets stay apart: the config may be logged.

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Provider } from '@svc/api/purchases'
import {
  type HttpSettings,
  type Mode,
  readHttpSettings,
  readLogSettings,
  SettingsReader,
  type Variables,
} from '@svc/http-service/config'
import { NO_KEY, readKey, refuseSharedKeys } from '@svc/http-service/keys'
import type { LogLevel } from '@svc/http-service/log'
import { DEFAULT_DOMAIN_TAG, DOMAIN_TAG_BYTES, domainTagBytes } from '@svc/protocol/names'
import type { SalesSecrets } from '@svc/sales/settings'
import { type AnchorConfig, readAnchorConfig } from './anchor-settings.ts'
import { type AttestConfig, readAttestConfig } from './attest-settings.ts'
import { type EvmRegistryConfig, type EvmRegistrySecrets, readEvmRegistrySettings } from './evm-registry-settings.ts'
import { type PaymentConfig, readPaymentConfig } from './payment-settings.ts'
import {
  type LimitConfig,
  readLimits,
  readStorageConfig,
  type StorageConfig,
  type StorageSecrets,
} from './storage-settings.ts'
import { readX402Settings, type X402Config, type X402Secrets } from './x402-settings.ts'

const GIBIBYTE = 1_073_741_824
const MAX_INTEGER = Number.MAX_SAFE_INTEGER

export interface Config {
  mode: Mode
  dataDir: string
  http: HttpSettings
  log: { level: LogLevel }
  evidence: {
    domainTag: string
    /** How much recompute-verify reads for one answer. */
    recomputeMaxBytes: number
    /** Whose tokens name receipts. */
    tokens: TokenConfig | null
  }
  payments: PaymentConfig
  storage: StorageConfig
  limits: LimitConfig
  lockers: { allowPublicProvision: boolean }
  attestations: AttestConfig
  anchors: AnchorConfig
  evmRegistry: EvmRegistryConfig | null
  jobs: { areDoneHere: boolean }
  x402: X402Config
  sponsors: OidcConfig | null
  internal: { oidc: OidcConfig | null }
}

/** Tokens of one identity provider. */
interface TokenConfig {
  issuer: string
  audience: string
  jwksUrl: string
}

/** The same, for services named here. */
interface OidcConfig extends TokenConfig {
  allowedServices: string[]
}

export interface Secrets extends SalesSecrets, X402Secrets, EvmRegistrySecrets, StorageSecrets {
  /** Shared with the scheduler and the operator's tools. */
  internalSecret: string | null
  /** Shared with oracles, who may have statements computed. */
  oracleSecret: string | null
  databaseUrl: string
  /** Signs receipts, attestations and statements. */
  statementSeed: Uint8Array
  /** Signs transactions that publish statements. */
  publicationSeed: Uint8Array
  /** Signs short-URL tokens. */
  shortUrlSeed: Uint8Array
}

export function readConfig(variables: Variables): { config: Config; secrets: Secrets; asked: Map<string, string> } {
  const settings = new SettingsReader(variables)
  const mode = settings.oneOf('SVC_MODE', ['development', 'production'], 'production')
  const dataDir = resolve(settings.text('DATA_DIR', './data'))
  const [payments, paymentSecrets] = readPaymentConfig(settings, mode === 'production')
  const [x402, x402Secrets] = readX402Settings(settings, payments, mode === 'production')
  const [evmRegistry, evmRegistrySecrets] = readEvmRegistrySettings(settings, payments, mode === 'production')
  const [storage, storageSecrets] = readStorageConfig(settings, mode === 'production', dataDir)
  const config: Config = {
    mode,
    dataDir,
    http: readHttpSettings(settings, mode, 8402),
    log: readLogSettings(settings),
    evidence: {
      domainTag: domainTag(settings),
      recomputeMaxBytes: settings.integer('RECOMPUTE_MAX_BYTES', 10 * GIBIBYTE, { min: 0, max: MAX_INTEGER }),
      tokens: readTokens(settings, 'ATTEST_JWT', mode),
    },
    payments: mode === 'production' ? { ...payments, terms: honestTerms(payments, storage) } : payments,
    storage,
    limits: readLimits(settings),
    lockers: { allowPublicProvision: allowPublicProvision(settings, mode) },
    attestations: readAttestConfig(settings),
    anchors: readAnchorConfig(settings),
    evmRegistry,
    jobs: { areDoneHere: settings.oneOf('RUN_JOBS', ['true', 'false'], 'true') === 'true' },
    x402,
    sponsors: readOidc(settings, 'SPONSOR_OIDC', mode),
    internal: { oidc: readOidc(settings, 'INTERNAL_OIDC', mode) },
  }
  const secrets = {
    ...readSecrets(settings, mode, dataDir),
    ...paymentSecrets,
    ...x402Secrets,
    ...evmRegistrySecrets,
    ...storageSecrets,
    internalSecret: sharedSecret(settings, mode, 'INTERNAL_SECRET'),
    oracleSecret: sharedSecret(settings, mode, 'ORACLE_CALLBACK_SECRET'),
  }
  refuseSharedKeys(settings, [
    ['STATEMENT_KEY', secrets.statementSeed],
    ['PUBLICATION_KEY', secrets.publicationSeed],
    ['SHORT_URL_KEY', secrets.shortUrlSeed],
    ['X402_SVM_FEE_PAYER_KEY', secrets.svmFeePayerSeed ?? NO_KEY],
    ['X402_EVM_FACILITATOR_KEY', secrets.evmFacilitatorKey ?? NO_KEY],
    ['EVM_REGISTRY_KEY', secrets.evmRegistryKey ?? NO_KEY],
  ])
  settings.done()
  mkdirSync(dataDir, { recursive: true })
  return { config, secrets, asked: settings.asked }
}

/** A name that is kept on our own disk says so wherever its terms are shown (ADD-12). */
function honestTerms({ terms }: PaymentConfig, { drivers }: StorageConfig): PaymentConfig['terms'] {
  const entries = Object.entries(terms).map(([provider, of]) => {
    const isOurs = drivers[provider as Provider] === 'local'
    return [provider, isOurs ? { ...of, storage: 'gateway' } : of]
  })
  return Object.fromEntries(entries)
}

function allowPublicProvision(settings: SettingsReader, mode: Mode): boolean {
  const isAllowed = settings.oneOf('ALLOW_PUBLIC_PROVISION', ['true', 'false'], 'false') === 'true'
  if (isAllowed && mode === 'production') {
    settings.problem('ALLOW_PUBLIC_PROVISION is for development: in production only the payer opens a locker')
  }
  return isAllowed
}

function domainTag(settings: SettingsReader): string {
  const tag = settings.text('ENVELOPE_DOMAIN_TAG', DEFAULT_DOMAIN_TAG)
  if (domainTagBytes(tag) === null) {
    settings.problem(
      `ENVELOPE_DOMAIN_TAG must be exactly ${DOMAIN_TAG_BYTES} printable ASCII characters, not ${tag.length}`,
    )
  }
  return tag
}

/** All or none. The issuer is compared to the letter, so it is not tidied as an address would be. */
function readTokens(settings: SettingsReader, name: string, mode: Mode, others: string[] = []): TokenConfig | null {
  const names = [`${name}_ISSUER`, `${name}_AUDIENCE`, `${name}_JWKS_URL`, ...others]
  const [issuer = '', audience = '', jwksUrl = '', ...rest] = names.map((variable) => settings.text(variable))
  const given = [issuer, audience, jwksUrl, ...rest].filter(Boolean).length
  if (given === 0) return null
  if (given < names.length) settings.problem(`${names.join(', ')} belong together: set all or none`)
  const { protocol } = URL.parse(jwksUrl) ?? {}
  if (protocol !== 'https:' && !(protocol === 'http:' && mode === 'development')) {
    settings.problem(`${name}_JWKS_URL must be an https address`)
  }
  return { issuer, audience, jwksUrl }
}

function readOidc(settings: SettingsReader, name: string, mode: Mode): OidcConfig | null {
  const tokens = readTokens(settings, name, mode, [`${name}_SERVICES`])
  return tokens && { ...tokens, allowedServices: settings.text(`${name}_SERVICES`).split(',').filter(Boolean) }
}

const MIN_SECRET_CHARACTERS = 24

function sharedSecret(settings: SettingsReader, mode: Mode, name: string): string | null {
  const secret = settings.text(name)
  if (!secret) return null
  const isWeak = mode === 'production' && secret.length < MIN_SECRET_CHARACTERS
  if (isWeak || !/^[\x21-\x7e]+$/.test(secret)) {
    settings.problem(`${name} must be at least ${MIN_SECRET_CHARACTERS} visible ASCII characters`)
  }
  return secret
}

type KeySecrets = Pick<Secrets, 'databaseUrl' | 'statementSeed' | 'publicationSeed' | 'shortUrlSeed'>

function readSecrets(settings: SettingsReader, mode: Mode, dataDir: string): KeySecrets {
  const key = (variable: string, name: string) => readKey(settings, { mode, dataDir, variable, name })
  const secrets = {
    databaseUrl: settings.text('DATABASE_URL', `sqlite:${dataDir}/gateway.db`),
    statementSeed: key('STATEMENT_KEY', 'statement'),
    publicationSeed: key('PUBLICATION_KEY', 'publication'),
    shortUrlSeed: key('SHORT_URL_KEY', 'short-url'),
  }
  settings.asked.set('DATABASE_URL', 'sqlite:<DATA_DIR>/gateway.db')
  return secrets
}
