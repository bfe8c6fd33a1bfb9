// Settings of Firestore.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { readServiceAccount, type ServiceAccount } from '../google-account.ts'
import { decodePart, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface FirestoreSettings {
  project: string
  database: string
  collection: string
  /** Null: the credentials of the machine. */
  credentials: ServiceAccount | null
  /** `host:port` of an emulator, reached unencrypted and without credentials; null for Google's service. */
  emulator: string | null
  maxObjectBytes: number
}

const MIB = 1024 * 1024
const DEFAULT_MAX_OBJECT_BYTES = 50 * MIB
const FORM = {
  setting: 'FIRESTORE',
  schemes: ['firestore:'],
  example: 'firestore:project?collection=objects&credentials_file=/path/to/key.json',
  words: ['database', 'collection', 'credentials', 'emulator', 'max_object_bytes'],
}

export const FIRESTORE_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `Firestore: ${FORM.example}; also database, max_object_bytes (each 900 KiB is a document to pay for) and, in development, emulator=host:port`,
}

/** Null when the setting is empty. */
export function readFirestoreSettings(settings: SettingsReader): FirestoreSettings | null {
  const given = openProviderUrl(settings, FORM)
  if (!given) return null
  const read: FirestoreSettings = {
    project: decodePart(given.url.pathname.replace(/^\/\//, '')),
    database: given.option('database', '(default)'),
    collection: given.option('collection', 'objects'),
    credentials: readServiceAccount(given, 'credentials'),
    emulator: given.option('emulator') || null,
    maxObjectBytes: given.integer('max_object_bytes', DEFAULT_MAX_OBJECT_BYTES, { min: 1, max: 1024 * MIB }),
  }
  reportProblems(given, read)
  return read
}

function reportProblems(
  { problem }: ProviderUrl,
  { project, database, collection, credentials, emulator }: FirestoreSettings,
) {
  if (!/^(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(project))
    problem('project', 'the id of a Google Cloud project')
  if (!/^(?:\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$/.test(database))
    problem('database', `(default) or the id of a database, not "${database}"`)
  if (!/^(?!__)[A-Za-z0-9_-]{1,100}$/.test(collection))
    problem('collection', `1 to 100 letters, digits, _ or -, not "${collection}"`)
  if (emulator !== null && !/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/.test(emulator))
    problem('emulator', `host:port, not "${emulator}"`)
  if (emulator !== null && credentials) problem('emulator', 'without credentials: remove one of them')
}
