// Settings of Storj, or of any other store that speaks S3.

import { readSecret, type SettingsReader } from '@svc/http-service/config'

export interface StorjSettings {
  /** The origin of the store, without a trailing slash. */
  endpoint: string
  region: string
  bucket: string
  /** Precedes the key of every object: empty, or with a trailing slash. */
  prefix: string
  accessKeyId: string
  /** A secret. */
  secretAccessKey: string
  /** Which clients are redirected to the store: none, those who download, or those who upload too. */
  redirect: 'off' | 'get' | 'all'
}

const DEFAULTS = {
  STORJ_ENDPOINT: 'https://gateway.storjshare.io',
  STORJ_REGION: 'us-east-1',
  STORJ_BUCKET: '',
  STORJ_PREFIX: '',
  STORJ_ACCESS_KEY_ID: '',
  STORJ_SECRET_ACCESS_KEY: '',
  STORJ_SECRET_ACCESS_KEY_FILE: '',
  STORJ_REDIRECT: 'off',
}

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readStorjSettings(settings: SettingsReader): StorjSettings | null {
  const isUnset = Object.entries(DEFAULTS).every(([name, value]) => settings.text(name, value) === value)
  if (isUnset) return null
  return {
    endpoint: readEndpoint(settings),
    region: readWord(settings, 'STORJ_REGION', /^[a-z0-9-]{1,40}$/, 'the region that the store says it is in'),
    bucket: readWord(
      settings,
      'STORJ_BUCKET',
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      'the bucket that files are kept in',
    ),
    prefix: readWord(settings, 'STORJ_PREFIX', /^(?:[A-Za-z0-9_-]{1,60}\/){0,4}$/, 'words with a slash after each'),
    accessKeyId: readWord(settings, 'STORJ_ACCESS_KEY_ID', /^[\w.-]{1,200}$/, 'the access key of S3 credentials'),
    secretAccessKey: readSecretKey(settings),
    redirect: settings.oneOf('STORJ_REDIRECT', ['off', 'get', 'all'], 'off'),
  }
}

/** Requests are signed, but their bytes are not: they may not leave this machine unencrypted. */
function readEndpoint(settings: SettingsReader): string {
  const endpoint = settings.url('STORJ_ENDPOINT', DEFAULTS.STORJ_ENDPOINT)
  const { origin, protocol, hostname } = new URL(endpoint)
  if (endpoint !== origin) settings.problem('STORJ_ENDPOINT must be the address of a host, with nothing after it')
  if (protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)) {
    settings.problem('STORJ_ENDPOINT must begin with https:// unless it is on this machine, as files are sent there')
  }
  return origin
}

function readWord(settings: SettingsReader, name: keyof typeof DEFAULTS, form: RegExp, meaning: string): string {
  const word = settings.text(name, DEFAULTS[name])
  if (!form.test(word)) settings.problem(`${name} must be ${meaning}, not "${word}"`)
  return word
}

/** Problems never show it. */
function readSecretKey(settings: SettingsReader): string {
  const given = readSecret(settings, 'STORJ_SECRET_ACCESS_KEY')
  if (!given?.text && given?.text !== null)
    settings.problem('STORJ_SECRET_ACCESS_KEY must be the secret of the access key, or be in a file')
  return given?.text ?? ''
}
