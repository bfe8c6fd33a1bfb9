// Settings of Storj, or of any other store that speaks S3.

import { readSecret, type SettingsReader } from '@svc/service/program/config'

export interface BucketSettings {
  /** The origin of the store, without a trailing slash. */
  endpoint: string
  region: string
  bucket: string
  /** Precedes the key of every object: empty, or with a trailing slash. */
  prefix: string
  accessKeyId: string
  /** A secret. */
  secretAccessKey: string
}

export interface StorjSettings extends BucketSettings {
  /** Which clients are redirected to the store: none, those who download, or those who upload too. */
  redirect: 'off' | 'get' | 'all'
}

const STORJ_ENDPOINT = 'https://gateway.storjshare.io'
const REDIRECTS = ['off', 'get', 'all'] as const

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readStorjSettings(settings: SettingsReader): StorjSettings | null {
  const redirect = settings.oneOf('STORJ_REDIRECT', REDIRECTS, 'off')
  const isSet = redirect !== 'off'
  const bucket = readBucketSettings(settings, { name: 'STORJ', endpoint: STORJ_ENDPOINT, isSet })
  return bucket && { ...bucket, redirect }
}

interface WantedBucket {
  /** What the names of its variables begin with. */
  name: string
  /** Where it is by default. */
  endpoint: string
  /** Whether it is wanted even if none of its variables is set. */
  isSet?: boolean
}

/** Null when none of its variables is set, or all are as in `.env.example`. */
export function readBucketSettings(settings: SettingsReader, wanted: WantedBucket): BucketSettings | null {
  const { name, endpoint, isSet = false } = wanted
  const defaults: Record<string, string> = {
    ENDPOINT: endpoint,
    REGION: 'us-east-1',
    BUCKET: '',
    PREFIX: '',
    ACCESS_KEY_ID: '',
    SECRET_ACCESS_KEY: '',
    SECRET_ACCESS_KEY_FILE: '',
  }
  const text = (word: string) => settings.text(`${name}_${word}`, defaults[word])
  const isUnset = Object.keys(defaults).filter((word) => text(word) !== defaults[word]).length === 0
  if (isUnset && !isSet) return null

  function readWord(word: string, form: RegExp, meaning: string): string {
    if (!form.test(text(word))) settings.problem(`${name}_${word} must be ${meaning}, not "${text(word)}"`)
    return text(word)
  }

  return {
    endpoint: readEndpoint(settings, `${name}_ENDPOINT`, endpoint),
    region: readWord('REGION', /^[a-z0-9-]{1,40}$/, 'the region that the store says it is in'),
    bucket: readWord('BUCKET', /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the bucket that files are kept in'),
    prefix: readWord('PREFIX', /^(?:[A-Za-z0-9_-]{1,60}\/){0,4}$/, 'words with a slash after each'),
    accessKeyId: readWord('ACCESS_KEY_ID', /^[\w.-]{1,200}$/, 'the access key of S3 credentials'),
    secretAccessKey: readSecretKey(settings, `${name}_SECRET_ACCESS_KEY`),
  }
}

/** Requests are signed, but their bytes are not: they may not leave this machine unencrypted. */
function readEndpoint(settings: SettingsReader, variable: string, fallback: string): string {
  const endpoint = settings.url(variable, fallback)
  const { origin, protocol, hostname } = URL.parse(endpoint) ?? new URL(STORJ_ENDPOINT)
  if (endpoint !== origin) settings.problem(`${variable} must be the address of a host, with nothing after it`)
  if (protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)) {
    settings.problem(`${variable} must begin with https:// unless it is on this machine, as files are sent there`)
  }
  return origin
}

/** Problems never show it. */
function readSecretKey(settings: SettingsReader, variable: string): string {
  const given = readSecret(settings, variable)
  if (!given?.text && given?.text !== null)
    settings.problem(`${variable} must be the secret of the access key, or be in a file`)
  return given?.text ?? ''
}
