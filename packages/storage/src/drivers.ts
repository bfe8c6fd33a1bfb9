// How each provider is configured and opened. The code of a driver is loaded only when it is opened.

import { PROVIDERS, type Provider } from '@svc/api/purchases'
import type { Renamed, Settings, SettingsReader } from '@svc/service/program/config'
import { ARWEAVE_SETTING, type ArweaveSettings, readArweaveSettings } from './arweave/settings.ts'
import { FILECOIN_SETTING, type FilecoinSettings, readFilecoinSettings } from './filecoin/settings.ts'
import { FIRESTORE_SETTING, type FirestoreSettings, readFirestoreSettings } from './firestore/settings.ts'
import { GCS_SETTING, type GcsSettings, readGcsSettings } from './gcs/settings.ts'
import { MONGODB_SETTING, type MongodbSettings, readMongodbSettings } from './mongodb/settings.ts'
import type { ClosableProvider, StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'
import { readStorjSettings, STORJ_SETTING, type StorjSettings } from './storj/settings.ts'

/** Null: not configured. Contains credentials, and is never logged. */
export interface ProviderSettings {
  gcs: GcsSettings | null
  mongodb: MongodbSettings | null
  storj: StorjSettings | null
  arweave: ArweaveSettings | null
  filecoin: FilecoinSettings | null
  firestore: FirestoreSettings | null
}

export type DriverSettings<Name extends Provider> = NonNullable<ProviderSettings[Name]>

export const PROVIDER_SETTINGS: Settings = {
  GCS: GCS_SETTING,
  MONGODB: MONGODB_SETTING,
  STORJ: STORJ_SETTING,
  ARWEAVE: ARWEAVE_SETTING,
  FILECOIN: FILECOIN_SETTING,
  FIRESTORE: FIRESTORE_SETTING,
}

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
  return {
    gcs: readGcsSettings(settings),
    mongodb: readMongodbSettings(settings),
    storj: readStorjSettings(settings),
    arweave: readArweaveSettings(settings),
    filecoin: readFilecoinSettings(settings),
    firestore: readFirestoreSettings(settings),
  }
}

interface OpenedDrivers {
  gcs: StorageProvider
  mongodb: ClosableProvider
  storj: StorageProvider
  firestore: ClosableProvider
  arweave: SlowStore
  filecoin: SlowStore
}

const DRIVERS: { [Name in Provider]: (settings: DriverSettings<Name>) => Promise<OpenedDrivers[Name]> } = {
  gcs: async (settings) => (await import('./gcs/open.ts')).openGcs(settings),
  mongodb: async (settings) => (await import('./mongodb/open.ts')).openMongodb(settings),
  storj: async (settings) => (await import('./storj/open.ts')).openStorj(settings),
  firestore: async (settings) => (await import('./firestore/open.ts')).openFirestore(settings),
  arweave: async (settings) => (await import('./arweave/open.ts')).openArweave(settings),
  filecoin: async (settings) => (await import('./filecoin/open.ts')).openFilecoin(settings),
}

/** Opens one driver with its own timeouts. */
export function openDriver<Name extends Provider>(
  name: Name,
  settings: DriverSettings<Name>,
): Promise<OpenedDrivers[Name]> {
  return DRIVERS[name](settings)
}

const SLOW = ['arweave', 'filecoin'] as const
type Slow = (typeof SLOW)[number]

/** Configured drivers whose objects are stored when a write resolves: all but the slow ones. */
export function openDirect(settings: ProviderSettings): Promise<Map<Provider, StorageProvider>> {
  const isDirect = (name: Provider): name is Exclude<Provider, Slow> => !SLOW.some((slow) => slow === name)
  return openConfigured(PROVIDERS.filter(isDirect), settings)
}

/** Configured drivers that take minutes, or cannot remove objects. */
export function openSlow(settings: ProviderSettings): Promise<Map<Provider, SlowStore>> {
  return openConfigured(SLOW, settings)
}

async function openConfigured<Name extends Provider>(
  names: readonly Name[],
  settings: ProviderSettings,
): Promise<Map<Provider, OpenedDrivers[Name]>> {
  const opened = new Map<Provider, OpenedDrivers[Name]>()
  for (const name of names) {
    const configured = settings[name]
    if (configured) opened.set(name, await openDriver(name, configured))
  }
  return opened
}
