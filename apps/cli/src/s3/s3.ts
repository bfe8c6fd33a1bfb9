import { MAX_S3_CREDENTIAL_MINUTES, MAX_S3_KEY_DAYS } from '@svc/api/s3-credentials'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Open } from '../session.ts'
import { type CredentialOptions, FORMATS, printCredentials } from './credentials.ts'
import { type KeyOptions, listKeys, type NewKeyOptions, newKey, revokeKey } from './keys.ts'

const DEFAULT_DAYS = 90

export function add(program: Command, open: Open): void {
  const s3 = program.command('s3').description('reach lockers with S3 clients: aws, rclone, restic, s3fs, boto3')
  s3.command('credentials')
    .description('show how to set up clients; with --format, print credentials that expire within the hour')
    .option(
      '--ttl <minutes>',
      `how long they work: 1 to ${MAX_S3_CREDENTIAL_MINUTES} (default ${MAX_S3_CREDENTIAL_MINUTES})`,
      (text) => wholeNumber(text, MAX_S3_CREDENTIAL_MINUTES),
    )
    .addOption(readOnlyOption())
    .addOption(prefixOption())
    .addOption(allOption())
    .addOption(
      new Option('--format <form>', 'env: for a shell; json; process: for credential_process of aws').choices(FORMATS),
    )
    .action(async (options: CredentialOptions, command: Command) => printCredentials(await open(command), options))

  const keys = s3.command('keys').description('keys for clients that cannot ask for new credentials; owner only')
  keys
    .command('list', { isDefault: true })
    .description('list them, as `svc s3 keys` alone does')
    .addOption(allOption())
    .action(async (options: KeyOptions, command: Command) => listKeys(await open(command), options))
  keys
    .command('new')
    .description('create a key; its secret is shown only once')
    .argument('<name>', 'its purpose, to tell keys apart')
    .addOption(
      new Option('--days <number>', `how long it works: 1 to ${MAX_S3_KEY_DAYS}`)
        .argParser((text) => wholeNumber(text, MAX_S3_KEY_DAYS))
        .default(DEFAULT_DAYS),
    )
    .addOption(readOnlyOption())
    .addOption(prefixOption())
    .addOption(allOption())
    .action(async (name: string, options: NewKeyOptions, command: Command) =>
      newKey(await open(command), name, options),
    )
  keys
    .command('revoke')
    .description('revoke a key, effective immediately')
    .argument('<id>', 'its access key id, SVCK…')
    .addOption(allOption())
    .action(async (id: string, options: KeyOptions, command: Command) => revokeKey(await open(command), id, options))
}

function readOnlyOption(): Option {
  return new Option('--read-only', 'they cannot write or delete')
}

function allOption(): Option {
  return new Option(
    '--all',
    'for all lockers that the wallet owns, including later ones, instead of one locker',
  ).conflicts('prefix')
}

function prefixOption(): Option {
  // Without the slash, the prefix would also match other names.
  return new Option('--prefix <folder>', 'limit them to this folder of the locker').argParser((text) =>
    text === '' || text.endsWith('/') ? text : `${text}/`,
  )
}

function wholeNumber(text: string, max: number): number {
  const number = Number(text)
  if (/^\d{1,6}$/.test(text) && number >= 1 && number <= max) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
}
