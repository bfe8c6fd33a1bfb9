// How each provider that is sold is configured and reached. What is not configured is not loaded.

import type { SettingsReader } from '@svc/http-service/config'
import { type GcsSettings, readGcsSettings } from './gcs/settings.ts'
import { type MongodbSettings, readMongodbSettings } from './mongodb/settings.ts'
import type { StorageProvider } from './provider.ts'
import { readStorjSettings, type StorjSettings } from './storj/settings.ts'

/** With credentials: none of this is ever logged. */
export interface ProviderSettings {
  gcs: GcsSettings | null
  mongodb: MongodbSettings | null
  storj: StorjSettings | null
}

export function readProviderSettings(settings: SettingsReader): ProviderSettings {
  return {
    gcs: readGcsSettings(settings),
    mongodb: readMongodbSettings(settings),
    storj: readStorjSettings(settings),
  }
}

/** Those that are configured, by their names. */
export async function openDrivers({ gcs, mongodb, storj }: ProviderSettings): Promise<Map<string, StorageProvider>> {
  const opened = new Map<string, StorageProvider>()
  if (gcs) opened.set('gcs', await (await import('./gcs/open.ts')).openGcs(gcs))
  if (mongodb) opened.set('mongodb', await (await import('./mongodb/open.ts')).openMongodb(mongodb))
  if (storj) opened.set('storj', await (await import('./storj/open.ts')).openStorj(storj))
  return opened
}
