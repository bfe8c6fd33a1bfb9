// Settings of Google Cloud Storage.

import type { SettingsReader } from '@svc/service/program/config'
import { isSafeAddress, readServiceAccount, type ServiceAccount } from '../google-account.ts'

export interface GcsSettings {
  bucket: string
  /** Precedes the id in the name of every object. */
  prefix: string
  /** Null: the credentials of the machine. */
  credentials: ServiceAccount | null
  endpoint: string
  /** Signs addresses for an account whose key we do not have. */
  iamEndpoint: string
  /** Which clients are redirected to the bucket: none, those who download, or those who upload too. */
  redirect: 'off' | 'get' | 'all'
}

const DEFAULTS = {
  GCS_BUCKET: '',
  GCS_PREFIX: '',
  GCS_CREDENTIALS: '',
  GCS_CREDENTIALS_FILE: '',
  GCS_ENDPOINT: 'https://storage.googleapis.com',
  GCS_IAM_ENDPOINT: 'https://iamcredentials.googleapis.com',
  GCS_REDIRECT: 'off',
}

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readGcsSettings(settings: SettingsReader): GcsSettings | null {
  const isUnset = Object.entries(DEFAULTS).every(([name, value]) => settings.text(name, value) === value)
  const read: GcsSettings = {
    bucket: settings.text('GCS_BUCKET'),
    prefix: settings.text('GCS_PREFIX'),
    credentials: readServiceAccount(settings, 'GCS_CREDENTIALS'),
    endpoint: safeUrl(settings, 'GCS_ENDPOINT'),
    iamEndpoint: safeUrl(settings, 'GCS_IAM_ENDPOINT'),
    redirect: settings.oneOf('GCS_REDIRECT', ['off', 'get', 'all'], 'off'),
  }
  if (isUnset) return null
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(read.bucket)) {
    settings.problem('GCS_BUCKET must name the bucket that files are kept in, as other settings of GCS are there')
  }
  if (!/^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/.test(read.prefix) || read.prefix.length > 200) {
    settings.problem(`GCS_PREFIX must be words with a slash after each, as in "svc/files/", not "${read.prefix}"`)
  }
  return read
}

function safeUrl(settings: SettingsReader, name: 'GCS_ENDPOINT' | 'GCS_IAM_ENDPOINT'): string {
  const url = settings.url(name, DEFAULTS[name])
  if (!isSafeAddress(url)) {
    settings.problem(`${name} must begin with https:// unless it is on this machine, as credentials are sent there`)
  }
  return url
}
