// Settings of Google Cloud Storage.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { readServiceAccount, type ServiceAccount } from '../google-account.ts'
import { decodePart, isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface GcsSettings {
  bucket: string
  /** The prefix of every object's name. */
  prefix: string
  /** Null: the credentials of the machine. */
  credentials: ServiceAccount | null
  endpoint: string
  /** Signs addresses for an account whose key we do not have. */
  iamEndpoint: string
  /** Which clients are redirected to the bucket: none, downloads only, or uploads too. */
  redirect: 'off' | 'get' | 'all'
}

const FORM = {
  setting: 'GCS',
  schemes: ['gs:'],
  example: 'gs://bucket/prefix/?credentials_file=/path/to/key.json',
  words: ['credentials', 'endpoint', 'iam_endpoint', 'redirect'],
}

export const GCS_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `Google Cloud Storage: ${FORM.example}; without credentials, those of this machine; redirect=get or all sends clients to the bucket`,
}

/** Null when the setting is empty. */
export function readGcsSettings(settings: SettingsReader): GcsSettings | null {
  const given = openProviderUrl(settings, FORM)
  if (!given) return null
  const { url, problem } = given
  const read: GcsSettings = {
    bucket: decodePart(url.host),
    prefix: decodePart(url.pathname.slice(1)),
    credentials: readServiceAccount(given, 'credentials'),
    endpoint: safeUrl(given, 'endpoint', 'https://storage.googleapis.com'),
    iamEndpoint: safeUrl(given, 'iam_endpoint', 'https://iamcredentials.googleapis.com'),
    redirect: given.oneOf('redirect', ['off', 'get', 'all']),
  }
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(read.bucket))
    problem('bucket', 'the bucket in which files are stored')
  if (!/^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/.test(read.prefix) || read.prefix.length > 200) {
    problem('prefix', `words with a slash after each, as in svc/files/, not "${read.prefix}"`)
  }
  return read
}

function safeUrl({ option, problem }: ProviderUrl, word: string, fallback: string): string {
  const text = option(word, fallback)
  const url = URL.parse(text)
  if (!url || !isSafeAddress(url) || url.search || url.hash)
    problem(
      word,
      'an address that begins with https://, or is on this machine or a container beside it, as credentials are sent there',
    )
  return text.replace(/\/+$/, '')
}
