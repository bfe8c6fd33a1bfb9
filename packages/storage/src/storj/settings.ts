// Settings of Storj, or of any other store that speaks S3.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { decodePart, isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

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

export const S3_EXAMPLE = 's3://key:secret@host/bucket/prefix/?region=us-east-1'
/** `s3+http` is for stores on this machine. */
const SCHEMES: Record<string, string> = { 's3:': 'https:', 's3+http:': 'http:' }

export const STORJ_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `Storj (gateway.storjshare.io), or any other store that speaks S3: ${S3_EXAMPLE}; redirect=get or all sends clients to the store`,
}

/** Null when it is not set. */
export function readStorjSettings(settings: SettingsReader): StorjSettings | null {
  const given = openProviderUrl(settings, formOf('STORJ', ['region', 'redirect']))
  return given && { ...readBucket(given), redirect: given.oneOf('redirect', ['off', 'get', 'all']) }
}

/** Null when the setting is empty. */
export function readBucketSettings(settings: SettingsReader, setting: string): BucketSettings | null {
  const given = openProviderUrl(settings, formOf(setting, ['region']))
  return given && readBucket(given)
}

function formOf(setting: string, words: string[]) {
  return { setting, schemes: Object.keys(SCHEMES), example: S3_EXAMPLE, words }
}

function readBucket(given: ProviderUrl): BucketSettings {
  const { url, option, problem } = given
  const [bucket = '', ...prefix] = decodePart(url.pathname.slice(1)).split('/')
  const read: BucketSettings = {
    endpoint: readEndpoint(given),
    region: option('region', 'us-east-1'),
    bucket,
    prefix: prefix.join('/'),
    accessKeyId: decodePart(url.username),
    secretAccessKey: decodePart(url.password),
  }
  if (!/^[a-z0-9-]{1,40}$/.test(read.region))
    problem('region', `the region that the store says it is in, not "${read.region}"`)
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    problem('bucket', `the bucket that files are kept in, not "${bucket}"`)
  if (!/^(?:[A-Za-z0-9_-]{1,60}\/){0,4}$/.test(read.prefix))
    problem('prefix', `words with a slash after each, not "${read.prefix}"`)
  if (!/^[\w.-]{1,200}$/.test(read.accessKeyId)) problem('key', 'the access key of S3 credentials')
  if (read.secretAccessKey === '') problem('secret', 'the secret of the access key')
  return read
}

/** Requests are signed, but their bytes are not: they may not leave this machine unencrypted. */
function readEndpoint({ url, problem }: ProviderUrl): string {
  const protocol = SCHEMES[url.protocol] ?? 'https:'
  const endpoint = URL.parse(`${protocol}//${url.host}`)
  if (!endpoint?.host) problem('host', 'the host of the store')
  else if (!isSafeAddress(endpoint))
    problem('host', 'reached by s3:// unless it is on this machine, as files are sent there')
  return endpoint?.origin ?? ''
}
