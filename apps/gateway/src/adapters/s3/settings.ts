// Settings of the S3 endpoint.

import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface S3Config {
  /** Whether S3 clients are served. */
  enabled: boolean
  /**
   * The host of the S3 endpoint. The endpoint serves every path of this host and of its subdomains, which name buckets.
   * Null when the endpoint is at /s3 only.
   */
  host: string | null
  /** The region that clients sign for. */
  region: string
}

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/
const DEFAULT_REGION = 'us-east-1'

/** When empty, S3 is served in development only. */
export function readS3Config(settings: SettingsReader, mode: Mode): S3Config {
  if (settings.text('S3') === '') return { enabled: mode === 'development', host: null, region: DEFAULT_REGION }
  const [word, options] = settings.choice('S3', ['on', 'off'], ['host', 'region'])
  const host = options.get('host')?.at(-1)?.toLowerCase() ?? null
  if (host !== null && !HOST.test(host))
    settings.problem('S3: host must be a host name without a port, as in s3.example.com')
  const region = options.get('region')?.at(-1) ?? DEFAULT_REGION
  if (!/^[a-z0-9-]{1,32}$/.test(region))
    settings.problem(
      `S3: region must be lowercase letters, digits and hyphens, as in ${DEFAULT_REGION}, not "${region}"`,
    )
  return { enabled: word === 'on', host, region }
}
