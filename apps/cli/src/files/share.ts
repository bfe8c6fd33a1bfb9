import type { Share } from '@svc/api/shares'
import { isGatewayError } from '@svc/sdk/errors'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import { rejectFolder } from './folder-error.ts'
import { printUrl, warnIfEncrypted } from './url.ts'

interface ShareOptions {
  /** Minutes. Infinity: the share does not expire. */
  expires?: number
  label?: string
  public?: boolean
  qr?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('share')
    .description('make an address that opens a file or folder for anyone who has it')
    .argument('<path>', 'a file of the locker, or a folder with its final /')
    .option('--expires <time>', 'how long it works: 12h, 30d, or never; 7d by default', expiryIn)
    .option('--label <text>', 'a note for yourself, which `svc shares` shows')
    .option('--public', 'use the public link, which opens every file of the locker until it is rotated or closed')
    .option('--qr', 'also show it as a QR code')
    .addHelpText('after', `\n${ABOUT}`)
    .action(async (path: string, options: ShareOptions, command: Command) => {
      const { expires, label, ...others } = options
      if (options.public && (expires !== undefined || label !== undefined))
        throw new UsageError('the public link has no expiry and no label: leave out --public, --expires or --label')
      const session = await open(command)
      if (options.public) return printUrl(session, path, others)
      if (expires !== undefined && expires < HOUR) return printUrl(session, path, { ...others, ttl: expires })
      await share(session, path, options)
    })
}

const ABOUT = `Anyone with the address can see the name and a preview, download it, and get proof of its content.
It does not reveal the receipt or other files. \`svc shares\` lists shares and when each was last
used; \`svc shares end\` ends one. Times below an hour make a temporary link, as \`svc url\` does.`

async function share(session: Session, path: string, { expires, label, qr }: ShareOptions): Promise<void> {
  const { output, host } = session
  const { signal } = host
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const options = {
    ...(expires !== undefined && { hours: expires === Infinity ? null : expires / HOUR }),
    ...(label !== undefined && { label }),
    signal,
  }
  const made = await client.share(locker, path, options).catch(async (error: unknown) => {
    if (!isGatewayError(error, 'FILE_NOT_FOUND')) throw error
    await rejectFolder({ client, locker, signal }, path, (folder) => `\`svc share ${folder}\` shares all its files`)
    throw new Failure(`the locker has no ${path}`, '`svc ls` lists its files')
  })
  const { url } = made
  output.result({ filename: path, ...made, expires_in_sec: secondsOf(made) }, () => shown(url))
  if (qr) output.note(`\n${(await import('../output/qr.ts')).qrText(url)}\n`)
  const until = made.expires_at === null ? 'does not expire' : `works until ${timeText(made.expires_at)}`
  output.note(`It ${until}; \`svc shares end ${made.id}${session.lockerOption}\` ends it earlier.`)
  warnIfEncrypted(output, path)
}

function secondsOf({ created_at, expires_at }: Share): number | null {
  return expires_at === null ? null : (Date.parse(expires_at) - Date.parse(created_at)) / 1000
}

const HOUR = 60
const MINUTES = { m: 1, h: HOUR, d: 24 * HOUR }
const MAX_MINUTES = 3650 * MINUTES.d

function expiryIn(text: string): number {
  if (text === 'never') return Infinity
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const minutes = Number(count) * MINUTES[(unit ?? 'm') as keyof typeof MINUTES]
  if (minutes >= 1 && minutes <= MAX_MINUTES && (minutes < HOUR || minutes % HOUR === 0)) return minutes
  throw new InvalidArgumentError('It must be a time like 45m, 12h or 30d, at most 3650d, or never.')
}
