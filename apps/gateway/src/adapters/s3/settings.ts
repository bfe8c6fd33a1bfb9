// Settings of the S3 endpoint.

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

/** When it is empty, clients are served in development only. */
export function readS3Config(settings: SettingsReader, mode: Mode): S3Config {
  if (settings.text('S3') === '') return { enabled: mode === 'development', host: null, region: DEFAULT_REGION }
  const [word, options] = settings.choice('S3', ['on', 'off'], ['host', 'region'])
  const host = options.get('host')?.at(-1)?.toLowerCase() ?? null
  if (host !== null && !HOST.test(host))
    settings.problem('S3: host must be a host name without a port, as in s3.example.com')
  const region = options.get('region')?.at(-1) ?? DEFAULT_REGION
  if (!/^[a-z0-9-]{1,32}$/.test(region))
    settings.problem(`S3: region must be small letters, digits and hyphens, as in ${DEFAULT_REGION}, not "${region}"`)
  return { enabled: word === 'on', host, region }
}
