// How each provider is configured and opened: one entry for each provider of `packages/api/src/providers.ts`. A
// driver's code is loaded only when it is opened.

import { isDirect, isSlow, PROVIDERS, type Provider } from '@svc/api/providers'
import type { Renamed, Setting, Settings, SettingsReader } from '@svc/service/program/config'
import { ARWEAVE_SETTING, readArweaveSettings } from './arweave/settings.ts'
import { FILECOIN_SETTING, readFilecoinSettings } from './filecoin/settings.ts'
import { FIRESTORE_SETTING, readFirestoreSettings } from './firestore/settings.ts'
import { GCS_SETTING, readGcsSettings } from './gcs/settings.ts'
import { MONGODB_SETTING, readMongodbSettings } from './mongodb/settings.ts'
import type { StorageProvider } from './provider.ts'
import { readS3BucketSettings, type S3BucketSettings, s3BucketSetting } from './s3-bucket/settings.ts'
import type { SlowStore } from './slow-store.ts'

interface Driver<Configured, Opened> {
  /** The setting is the provider's name in capitals. */
  setting: Setting
  /** Null: not configured. Contains credentials, and is never logged. */
  read(settings: SettingsReader): Configured | null
  /** The location of the files, without credentials. */
  location(configured: Configured): string
  /** With its own timeouts. */
  open(configured: Configured): Promise<Opened>
}

const ENTRIES = {
  gcs: entry({
    setting: GCS_SETTING,
    read: readGcsSettings,
    location: ({ bucket, prefix, endpoint }) => `bucket ${bucket}/${prefix} at ${endpoint}`,
    open: async (settings) => (await import('./gcs/open.ts')).openGcs(settings),
  }),
  mongodb: entry({
    setting: MONGODB_SETTING,
    read: readMongodbSettings,
    location: ({ database, bucket }) => `database ${database}, bucket ${bucket}`,
    open: async (settings) => (await import('./mongodb/open.ts')).openMongodb(settings),
  }),
  storj: s3Bucket('storj'),
  arweave: entry({
    setting: ARWEAVE_SETTING,
    read: readArweaveSettings,
    location: ({ uploadUrl, gateways }) => `by ${uploadUrl}, read at ${gateways.join(', ')}`,
    open: async (settings) => (await import('./arweave/open.ts')).openArweave(settings),
  }),
  filecoin: entry({
    setting: FILECOIN_SETTING,
    read: readFilecoinSettings,
    // The path of the address may be a secret.
    location: ({ pdpUrl, chainId }) => `by ${URL.parse(pdpUrl)?.host} on chain ${chainId}`,
    open: async (settings) => (await import('./filecoin/open.ts')).openFilecoin(settings),
  }),
  firestore: entry({
    setting: FIRESTORE_SETTING,
    read: readFirestoreSettings,
    location: ({ project, database, collection }) => `project ${project}, database ${database}, ${collection}`,
    open: async (settings) => (await import('./firestore/open.ts')).openFirestore(settings),
  }),
}

function entry<Configured, Opened>(driver: Driver<Configured, Opened>): Driver<Configured, Opened> {
  return driver
}

/** A bucket of any store that speaks S3. */
function s3Bucket(provider: Provider): Driver<S3BucketSettings, StorageProvider> {
  return {
    setting: s3BucketSetting(provider),
    read: (settings) => readS3BucketSettings(settings, provider),
    location: ({ bucket, prefix, endpoint }) => `bucket ${bucket}/${prefix} at ${endpoint}`,
    open: async (settings) => (await import('./s3-bucket/open.ts')).openS3Bucket(settings),
  }
}

type Entries = typeof ENTRIES
export type DriverSettings<Name extends Provider> =
  Entries[Name] extends Driver<infer Configured, infer _> ? Configured : never
type OpenedDriver<Name extends Provider> = Entries[Name] extends Driver<infer _, infer Opened> ? Opened : never
/** Null: not configured. Contains credentials, and is never logged. */
export type ProviderSettings = { [Name in Provider]: DriverSettings<Name> | null }

const DRIVERS: { [Name in Provider]: Driver<DriverSettings<Name>, OpenedDriver<Name>> } = ENTRIES

export const PROVIDER_SETTINGS: Settings = Object.fromEntries(
  PROVIDERS.map((name) => [name.toUpperCase(), DRIVERS[name].setting]),
)

/** The names of 1.1.0: a provider is one URL. */
export const RENAMED_PROVIDER_SETTINGS: Renamed = Object.fromEntries(
  Object.entries({
    GCS: ['BUCKET', 'PREFIX', 'CREDENTIALS', 'ENDPOINT', 'IAM_ENDPOINT', 'REDIRECT'],
    MONGODB: ['URL', 'DATABASE', 'BUCKET'],
    STORJ: ['ENDPOINT', 'REGION', 'BUCKET', 'PREFIX', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'REDIRECT'],
    ARWEAVE: ['UPLOAD_URL', 'GATEWAYS', 'TOKEN', 'KEY'],
    FILECOIN: ['PDP_URL', 'KEY', 'CHAIN_ID', 'RPC_URL', 'RECORD_KEEPER', 'DATA_SET', 'PAYEE', 'RETRIEVAL_URL'],
    FIRESTORE: ['PROJECT', 'DATABASE', 'COLLECTION', 'CREDENTIALS', 'EMULATOR', 'MAX_OBJECT_BYTES'],
  }).flatMap(([provider, words]) =>
    words.map((word) => [`${provider}_${word}`, `write it into ${provider}. ${PROVIDER_SETTINGS[provider]?.help}`]),
  ),
)

export function readProviderSettings(settings: SettingsReader): ProviderSettings {
  // Each entry reads the settings of its own provider.
  return Object.fromEntries(PROVIDERS.map((name) => [name, DRIVERS[name].read(settings)])) as ProviderSettings
}

/** The location of a configured provider's files, without credentials. */
export function providerLocation<Name extends Provider>(name: Name, settings: ProviderSettings): string {
  const configured = settings[name]
  return configured ? DRIVERS[name].location(configured) : ''
}

export function openDriver<Name extends Provider>(
  name: Name,
  settings: DriverSettings<Name>,
): Promise<OpenedDriver<Name>> {
  return DRIVERS[name].open(settings)
}

/** Configured drivers whose objects are stored when a write resolves. */
export function openDirect(settings: ProviderSettings): Promise<Map<Provider, StorageProvider>> {
  return openConfigured(PROVIDERS.filter(isDirect), settings)
}

/** Configured drivers that take minutes, or cannot remove objects. */
export function openSlow(settings: ProviderSettings): Promise<Map<Provider, SlowStore>> {
  return openConfigured(PROVIDERS.filter(isSlow), settings)
}

async function openConfigured<Name extends Provider>(
  names: readonly Name[],
  settings: ProviderSettings,
): Promise<Map<Provider, OpenedDriver<Name>>> {
  const opened = new Map<Provider, OpenedDriver<Name>>()
  for (const name of names) {
    const configured = settings[name]
    if (configured) opened.set(name, await openDriver(name, configured))
  }
  return opened
}
