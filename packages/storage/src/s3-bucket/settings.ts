// Settings of a bucket of any store that speaks S3.

import { PROVIDER_FACTS, type Provider } from '@svc/api/providers'
import type { Setting, SettingsReader } from '@svc/service/program/config'
import { decodePart, isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface BucketSettings {
  /** The store's name in the log. */
  title: string
  /** The origin of the store, without a trailing slash. */
  endpoint: string
  region: string
  bucket: string
  /** The prefix of every object's key: empty, or with a trailing slash. */
  prefix: string
  accessKeyId: string
  /** A secret. */
  secretAccessKey: string
}

export interface S3BucketSettings extends BucketSettings {
  /** Which clients are redirected to the store: none, downloads only, or uploads too. */
  redirect: 'off' | 'get' | 'all'
}

export const S3_EXAMPLE = 's3://key:secret@host/bucket/prefix/?region=us-east-1'
/** `s3+http` is for stores on this machine, or beside this container. */
const SCHEMES: Record<string, string> = { 's3:': 'https:', 's3+http:': 'http:' }

export function s3BucketSetting(provider: Provider): Setting {
  return {
    group: 'providers',
    isSecret: true,
    help: `${PROVIDER_FACTS[provider].title}, or any other S3-compatible store: ${S3_EXAMPLE}; redirect=get or all sends clients to the store`,
  }
}

/** Null when the setting of the provider is empty. */
export function readS3BucketSettings(settings: SettingsReader, provider: Provider): S3BucketSettings | null {
  const given = openProviderUrl(settings, formOf(provider.toUpperCase(), ['region', 'redirect']))
  if (!given) return null
  const { title } = PROVIDER_FACTS[provider]
  return { ...readBucket(given, title), redirect: given.oneOf('redirect', ['off', 'get', 'all']) }
}

/** Null when the setting is empty. */
export function readBucketSettings(settings: SettingsReader, setting: string): BucketSettings | null {
  const given = openProviderUrl(settings, formOf(setting, ['region']))
  return given && readBucket(given, `the store of ${setting}`)
}

function formOf(setting: string, words: string[]) {
  return { setting, schemes: Object.keys(SCHEMES), example: S3_EXAMPLE, words }
}

function readBucket(given: ProviderUrl, title: string): BucketSettings {
  const { url, option, problem } = given
  const [bucket = '', ...prefix] = decodePart(url.pathname.slice(1)).split('/')
  const read: BucketSettings = {
    title,
    endpoint: readEndpoint(given),
    region: option('region', 'us-east-1'),
    bucket,
    prefix: prefix.join('/'),
    accessKeyId: decodePart(url.username),
    secretAccessKey: decodePart(url.password),
  }
  if (!/^[a-z0-9-]{1,40}$/.test(read.region)) problem('region', `the region of the store, not "${read.region}"`)
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    problem('bucket', `the bucket in which files are stored, not "${bucket}"`)
  if (!/^(?:[A-Za-z0-9_-]{1,60}\/){0,4}$/.test(read.prefix))
    problem('prefix', `words with a slash after each, not "${read.prefix}"`)
  if (!/^[\w.-]{1,200}$/.test(read.accessKeyId)) problem('key', 'the access key of S3 credentials')
  if (read.secretAccessKey === '') problem('secret', 'the secret of the access key')
  return read
}

/** Requests are signed, but their bytes are not: they must not leave this machine unencrypted. */
function readEndpoint({ url, problem }: ProviderUrl): string {
  const protocol = SCHEMES[url.protocol] ?? 'https:'
  const endpoint = URL.parse(`${protocol}//${url.host}`)
  if (!endpoint?.host) problem('host', 'the host of the store')
  else if (!isSafeAddress(endpoint))
    problem('host', 'reached by s3:// unless it is on this machine or a container beside it, as files are sent there')
  return endpoint?.origin ?? ''
}
