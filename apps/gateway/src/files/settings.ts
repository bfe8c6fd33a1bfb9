// Where the bytes of files are stored, and how large they may be.

import { resolve } from 'node:path'
import { PROVIDERS, type Provider } from '@svc/api/providers'
import { readDnsServers, readInteger, type SettingsReader } from '@svc/service/program/config'
import { type ProviderSettings, readProviderSettings } from '@svc/storage/drivers'
import type { ProvidersConfig } from '@svc/storage/open-providers'

export interface StorageConfig extends ProvidersConfig {
  maxUploadBytes: number
  partMaxBytes: number
  fetch: FetchConfig
  systemPrefix: string
}

interface FetchConfig {
  timeoutSeconds: number
  maxBytes: number
  /** Concurrent fetches of one signer or into one locker. */
  maxPerSigner: number
  /** Concurrent fetches of this process. */
  maxTotal: number
  dnsServers: string[]
}

/** Addresses and credentials of the providers. */
export interface StorageSecrets {
  providers: ProviderSettings
}

const MEBIBYTE = 1_048_576
const MAX_BYTES = { min: 1, max: Number.MAX_SAFE_INTEGER }

export function readStorageConfig(
  settings: SettingsReader,
  isProduction: boolean,
  dataDir: string,
): [StorageConfig, StorageSecrets] {
  const providers = readProviderSettings(settings)
  if (isProduction && providers.firestore?.emulator)
    settings.problem(
      'FIRESTORE: emulator is for development only, because it neither persists data nor restricts access',
    )
  const config: StorageConfig = {
    drivers: readDrivers(settings, isProduction, providers),
    localFolder: resolve(settings.text('STORAGE_DIR') || `${dataDir}/files`),
    stagingFolder: resolve(settings.text('STAGING_DIR') || `${dataDir}/staging`),
    maxUploadBytes: settings.integer('MAX_UPLOAD_BYTES', MAX_BYTES),
    partMaxBytes: readFileLimit(settings, 'part_bytes', 64 * MEBIBYTE),
    fetch: readFetchConfig(settings),
    systemPrefix: systemPrefix(settings),
  }
  return [config, { providers }]
}

const LIMITS = [
  'part_bytes',
  'recompute_bytes',
  'fetch_seconds',
  'fetch_bytes',
  'fetch_signer',
  'fetch_process',
] as const

export function readFileLimit(settings: SettingsReader, key: (typeof LIMITS)[number], max: number, min = 1): number {
  const text = settings.pairs('FILE_LIMITS', LIMITS).get(key)?.at(-1) ?? ''
  return readInteger(settings, `FILE_LIMITS: ${key}`, text, { min, max })
}

function readFetchConfig(settings: SettingsReader): FetchConfig {
  return {
    timeoutSeconds: readFileLimit(settings, 'fetch_seconds', 3600),
    maxBytes: readFileLimit(settings, 'fetch_bytes', Number.MAX_SAFE_INTEGER),
    maxPerSigner: readFileLimit(settings, 'fetch_signer', 1000),
    maxTotal: readFileLimit(settings, 'fetch_process', 10_000),
    dnsServers: readDnsServers(settings),
  }
}

/** In development, each provider that is not configured is stored locally. */
function readDrivers(
  settings: SettingsReader,
  isProduction: boolean,
  configured: ProviderSettings,
): StorageConfig['drivers'] {
  const own = PROVIDERS.filter((provider) => configured[provider])
  const names = settings.list('LOCAL_PROVIDERS')
  const unknown = names.filter((name) => !PROVIDERS.some((provider) => provider === name))
  if (unknown.length > 0) {
    settings.problem(`LOCAL_PROVIDERS contains "${unknown.join(',')}", but only ${PROVIDERS.join(', ')} are allowed`)
  }
  const both = own.filter((provider) => names.includes(provider))
  if (both.length > 0) {
    settings.problem(
      `LOCAL_PROVIDERS contains "${both.join(',')}", which also has its own setting: remove one of the two`,
    )
  }
  if (isProduction && names.length + own.length === 0) {
    settings.problem(
      'No storage is configured, so nothing can be sold: configure a provider (GCS, MONGODB, ' +
        'STORJ, …), or list in LOCAL_PROVIDERS the providers to store on this machine',
    )
  }
  const isLocal = (provider: Provider) =>
    names.includes(provider) || (!isProduction && names.length === 0 && !own.includes(provider))
  return Object.fromEntries([
    ...PROVIDERS.filter(isLocal).map((provider) => [provider, 'local']),
    ...own.map((provider) => [provider, 'own']),
  ])
}

function systemPrefix(settings: SettingsReader): string {
  const prefix = settings.text('SYSTEM_FILENAME_PREFIX')
  if (!/^\.[A-Za-z0-9_-]+\/$/.test(prefix)) {
    settings.problem(`SYSTEM_FILENAME_PREFIX must be a dot, a word and a slash, not "${prefix}"`)
  }
  return prefix
}
