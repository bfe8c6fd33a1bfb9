import { MAX_S3_CREDENTIAL_MINUTES, MAX_S3_KEY_DAYS } from '@svc/api/s3-credentials'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Open } from '../session.ts'
import { type CredentialOptions, FORMATS, giveCredentials } from './credentials.ts'
import { type KeyOptions, listKeys, type NewKeyOptions, newKey, revokeKey } from './keys.ts'

const DEFAULT_DAYS = 90

export function add(program: Command, open: Open): void {
  const s3 = program.command('s3').description('reach lockers with S3 clients: aws, rclone, restic, s3fs, boto3')
  s3.command('credentials')
    .description('how to set clients up; with --format, credentials that end within the hour')
    .option('--ttl <minutes>', `how long they work: 1 to ${MAX_S3_CREDENTIAL_MINUTES}, which is the default`, (text) =>
      wholeNumber(text, MAX_S3_CREDENTIAL_MINUTES),
    )
    .addOption(readOnlyOption())
    .addOption(prefixOption())
    .addOption(allOption())
    .addOption(
      new Option('--format <form>', 'env: for a shell; json; process: what credential_process of aws wants').choices(
        FORMATS,
      ),
    )
    .action(async (options: CredentialOptions, command: Command) => giveCredentials(await open(command), options))

  const keys = s3.command('keys').description('keys for clients that cannot ask for new credentials; owner only')
  keys
    .command('list', { isDefault: true })
    .description('list them, as `svc s3 keys` alone does')
    .addOption(allOption())
    .action(async (options: KeyOptions, command: Command) => listKeys(await open(command), options))
  keys
    .command('new')
    .description('make one; its secret is shown this once')
    .argument('<name>', 'what it is for, to tell keys apart')
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
    .description('end one, effective at once')
    .argument('<id>', 'its access key id, SVCK…')
    .addOption(allOption())
    .action(async (id: string, options: KeyOptions, command: Command) => revokeKey(await open(command), id, options))
}

function readOnlyOption(): Option {
  return new Option('--read-only', 'they cannot write or delete')
}

function allOption(): Option {
  return new Option('--all', 'of all lockers that the wallet owns, also later ones, and not of one').conflicts('prefix')
}

function prefixOption(): Option {
  // A folder without its slash would also be the beginning of other names.
  return new Option('--prefix <folder>', 'they reach this folder of the locker only').argParser((text) =>
    text === '' || text.endsWith('/') ? text : `${text}/`,
  )
}

function wholeNumber(text: string, max: number): number {
  const number = Number(text)
  if (/^\d{1,6}$/.test(text) && number >= 1 && number <= max) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
}
