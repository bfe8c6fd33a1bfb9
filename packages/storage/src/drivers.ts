// How each provider that is sold is configured and reached. What is not configured is not loaded.

import type { SettingsReader } from '@svc/http-service/config'
import { type ArweaveSettings, readArweaveSettings } from './arweave/settings.ts'
import { type FilecoinSettings, readFilecoinSettings } from './filecoin/settings.ts'
import { type FirestoreSettings, readFirestoreSettings } from './firestore/settings.ts'
import { type GcsSettings, readGcsSettings } from './gcs/settings.ts'
import { type MongodbSettings, readMongodbSettings } from './mongodb/settings.ts'
import type { StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'
import { readStorjSettings, type StorjSettings } from './storj/settings.ts'

/** With credentials: none of this is ever logged. */
export interface ProviderSettings {
  gcs: GcsSettings | null
  mongodb: MongodbSettings | null
  storj: StorjSettings | null
  arweave: ArweaveSettings | null
  filecoin: FilecoinSettings | null
  firestore: FirestoreSettings | null
}

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

/** Those that are configured and have bytes when they say so, by their names. */
export async function openDrivers(settings: ProviderSettings): Promise<Map<string, StorageProvider>> {
  const { gcs, mongodb, storj, firestore } = settings
  const opened = new Map<string, StorageProvider>()
  if (gcs) opened.set('gcs', await (await import('./gcs/open.ts')).openGcs(gcs))
  if (mongodb) opened.set('mongodb', await (await import('./mongodb/open.ts')).openMongodb(mongodb))
  if (storj) opened.set('storj', await (await import('./storj/open.ts')).openStorj(storj))
  if (firestore) opened.set('firestore', await (await import('./firestore/open.ts')).openFirestore(firestore))
  return opened
}

/** Those that are configured and take their time. */
export async function openSlowStores({ arweave, filecoin }: ProviderSettings): Promise<Map<string, SlowStore>> {
  const opened = new Map<string, SlowStore>()
  if (arweave) opened.set('arweave', await (await import('./arweave/open.ts')).openArweave(arweave))
  if (filecoin) opened.set('filecoin', await (await import('./filecoin/open.ts')).openFilecoin(filecoin))
  return opened
}
