// Settings of the S3 door.

import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface S3Config {
  /** Whether S3 clients are served. */
  enabled: boolean
  /**
   * The host of the door: requests to it, and to hosts that are a bucket before it, are the door's at any path. Null
   * where the door is at /s3 only.
   */
  host: string | null
  /** What clients are told to sign for. */
  region: string
}

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/
const DEFAULT_REGION = 'us-east-1'

export function readS3Config(settings: SettingsReader, mode: Mode): S3Config {
  const door = settings.oneOf('S3_DOOR', ['on', 'off'], mode === 'production' ? 'off' : 'on')
  settings.asked.set('S3_DOOR', '')
  const host = settings.text('S3_HOST').toLowerCase()
  if (host !== '' && !HOST.test(host)) {
    settings.problem('S3_HOST must be a host name without a port, as in s3.example.com')
  }
  const region = settings.text('S3_REGION', DEFAULT_REGION)
  if (!/^[a-z0-9-]{1,32}$/.test(region)) {
    settings.problem(`S3_REGION must be small letters, digits and hyphens, as in ${DEFAULT_REGION}, not "${region}"`)
  }
  return { enabled: door === 'on', host: host === '' ? null : host, region }
}
