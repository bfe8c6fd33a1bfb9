// Settings of Firestore.

import type { SettingsReader } from '@svc/service/program/config'
import { readServiceAccount, type ServiceAccount } from '../google-account.ts'

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
const DEFAULTS = {
  FIRESTORE_PROJECT: '',
  FIRESTORE_DATABASE: '(default)',
  FIRESTORE_COLLECTION: 'objects',
  FIRESTORE_CREDENTIALS: '',
  FIRESTORE_CREDENTIALS_FILE: '',
  FIRESTORE_EMULATOR: '',
  FIRESTORE_MAX_OBJECT_BYTES: String(DEFAULT_MAX_OBJECT_BYTES),
}

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readFirestoreSettings(settings: SettingsReader): FirestoreSettings | null {
  const isUnset = Object.entries(DEFAULTS).every(([name, value]) => settings.text(name, value) === value)
  const read: FirestoreSettings = {
    project: settings.text('FIRESTORE_PROJECT'),
    database: settings.text('FIRESTORE_DATABASE', DEFAULTS.FIRESTORE_DATABASE),
    collection: settings.text('FIRESTORE_COLLECTION', DEFAULTS.FIRESTORE_COLLECTION),
    credentials: readServiceAccount(settings, 'FIRESTORE_CREDENTIALS'),
    emulator: settings.text('FIRESTORE_EMULATOR') || null,
    maxObjectBytes: settings.integer('FIRESTORE_MAX_OBJECT_BYTES', DEFAULT_MAX_OBJECT_BYTES, {
      min: 1,
      max: 1024 * MIB,
    }),
  }
  if (isUnset) return null
  reportProblems(settings, read)
  return read
}

function reportProblems(
  settings: SettingsReader,
  { project, database, collection, credentials, emulator }: FirestoreSettings,
) {
  if (!/^(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(project)) {
    settings.problem('FIRESTORE_PROJECT must be the id of a Google Cloud project, as other settings of it are there')
  }
  if (!/^(?:\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$/.test(database)) {
    settings.problem(`FIRESTORE_DATABASE must be (default) or the id of a database, not "${database}"`)
  }
  if (!/^(?!__)[A-Za-z0-9_-]{1,100}$/.test(collection)) {
    settings.problem(`FIRESTORE_COLLECTION must be 1 to 100 letters, digits, _ or -, not "${collection}"`)
  }
  if (emulator !== null && !/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/.test(emulator)) {
    settings.problem(`FIRESTORE_EMULATOR must be host:port, not "${emulator}"`)
  }
  if (emulator !== null && credentials) {
    settings.problem('FIRESTORE_EMULATOR takes no credentials: take away one or the other')
  }
}
