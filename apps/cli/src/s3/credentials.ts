// `svc s3 credentials`. With a format, the secrets go to stdout; without a format, only setup instructions.

import type { S3Credentials, WalletS3Credentials } from '@svc/sdk'
import { shellWord } from '../output/shell-word.ts'
import { jsonLine } from '../output/shown.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { sessionSetup } from './setup.ts'

export const FORMATS = ['env', 'json', 'process'] as const

export interface CredentialOptions {
  /** Credentials for all lockers that the wallet owns. */
  all?: true
  /** Minutes. */
  ttl?: number
  readOnly?: true
  prefix?: string
  format?: (typeof FORMATS)[number]
}

export async function printCredentials(session: Session, options: CredentialOptions): Promise<void> {
  const { output, host } = session
  const { ttl, readOnly, prefix, all } = options
  const locker = all ? null : await session.locker()
  const common = {
    access: readOnly ? 'read' : 'write',
    ...(ttl !== undefined && { minutes: ttl }),
    signal: host.signal,
  } as const
  const credentials = locker
    ? await (await session.lockerClient(locker)).s3Credentials(locker, {
        ...common,
        ...(prefix !== undefined && { prefix }),
      })
    : await (await session.client(await session.keyFor(null))).walletS3Credentials(common)
  const format = options.format ?? (output.isJson ? 'json' : null)
  if (format === null) {
    const { secret_access_key: _, session_token: __, access_key_id: ___, ...shown } = credentials
    return output.result(shown, () => sessionSetup(credentials, commandAgain(session, locker, options)))
  }
  const text = { env: variables, json: jsonLine, process: processDocument }[format](credentials)
  host.stdout.write(`${text}\n`)
}

type Given = S3Credentials | WalletS3Credentials

/** The document that aws reads from `credential_process`. */
function processDocument(credentials: Given): string {
  return jsonLine({
    Version: 1,
    AccessKeyId: credentials.access_key_id,
    SecretAccessKey: credentials.secret_access_key,
    SessionToken: credentials.session_token,
    Expiration: credentials.expires_at,
  })
}

function variables(credentials: Given): string {
  const values = {
    AWS_ACCESS_KEY_ID: credentials.access_key_id,
    AWS_SECRET_ACCESS_KEY: credentials.secret_access_key,
    AWS_SESSION_TOKEN: credentials.session_token,
    AWS_ENDPOINT_URL_S3: credentials.endpoint,
    AWS_REGION: credentials.region,
    AWS_DEFAULT_REGION: credentials.region,
  }
  return Object.entries(values)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join('\n')
}

/** The same command without its format. It repeats the settings, which may come from options and variables. */
function commandAgain(
  { gateway, profile, settings }: Session,
  locker: NamedLocker | null,
  options: CredentialOptions,
): string {
  const { wallet } = settings
  const words = [
    ['svc s3 credentials'],
    profile.from === 'default' ? [] : ['--profile', profile.name],
    ['--gateway', gateway],
    locker ? ['--locker', locker.locker_id] : ['--all'],
    wallet ? ['--wallet', wallet.value] : [],
    options.ttl === undefined ? [] : ['--ttl', String(options.ttl)],
    options.readOnly ? ['--read-only'] : [],
    options.prefix ? ['--prefix', options.prefix] : [],
  ]
  const [[command], ...rest] = words as [[string], ...string[][]]
  return [command, ...rest.flat().map(shellWord)].join(' ')
}
