// Settings of Google Cloud Storage.

import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SettingsReader } from '@svc/http-service/config'

export interface GcsSettings {
  bucket: string
  /** Stands before the id in the name of every object. */
  prefix: string
  /** Null: whatever the machine itself is let in with. */
  credentials: ServiceAccount | null
  endpoint: string
  /** Who signs addresses for an account whose key is not here. */
  iamEndpoint: string
  /** Which clients are sent to the bucket: none, those who fetch, or those who upload too. */
  redirect: 'off' | 'get' | 'all'
}

/** A key file as Google gives it out; a secret. */
interface ServiceAccount {
  client_email: string
  private_key: string
  token_uri?: string
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

/** Null when nothing of it is set, or all is as in `.env.example`. */
export function readGcsSettings(settings: SettingsReader): GcsSettings | null {
  const isUnset = Object.entries(DEFAULTS).every(([name, value]) => settings.text(name, value) === value)
  const read: GcsSettings = {
    bucket: settings.text('GCS_BUCKET'),
    prefix: settings.text('GCS_PREFIX'),
    credentials: readCredentials(settings),
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
  if (!isSafe(url)) {
    settings.problem(`${name} must begin with https:// unless it is on this machine, as credentials are sent there`)
  }
  return url
}

/** Tokens travel with every request: in the clear they may not leave this machine. */
function isSafe(url: string): boolean {
  return /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/.test(url)
}

function readCredentials(settings: SettingsReader): ServiceAccount | null {
  const given = settings.text('GCS_CREDENTIALS')
  const file = settings.text('GCS_CREDENTIALS_FILE')
  if (given && file) settings.problem('GCS_CREDENTIALS and GCS_CREDENTIALS_FILE are both set: take one away')
  if (!given && !file) return null
  const variable = given ? 'GCS_CREDENTIALS' : 'GCS_CREDENTIALS_FILE'
  const text = given || readFile(settings, file)
  const account = text === null ? null : parseAccount(text)
  if (text !== null && !account) {
    settings.problem(`${variable} does not hold the key of a service account: the JSON file that Google makes for one`)
  }
  return account
}

function readFile(settings: SettingsReader, file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    settings.problem(`GCS_CREDENTIALS_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return null
  }
}

/** What is wrong with it is not told: the text is a secret. */
function parseAccount(text: string): ServiceAccount | null {
  try {
    const { client_email, private_key, token_uri } = JSON.parse(text)
    createPrivateKey(private_key)
    if (typeof client_email !== 'string' || !client_email.includes('@')) return null
    if (token_uri !== undefined && !isSafe(token_uri)) return null
    return { client_email, private_key, ...(token_uri && { token_uri }) }
  } catch {
    return null
  }
}
