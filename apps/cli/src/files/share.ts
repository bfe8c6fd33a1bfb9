import { type Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../errors.ts'
import type { Open } from '../session.ts'
import { MAX_MINUTES, type ShareOptions, share } from './url.ts'

interface ShareCommandOptions extends Omit<ShareOptions, 'ttl'> {
  /** Minutes. */
  expires?: number
}

export function add(program: Command, open: Open): void {
  program
    .command('share')
    .description('make a link that gives a file to anyone who has it, for a limited time')
    .argument('<name>', 'a file of the locker')
    .option('--expires <time>', 'how long it works: 45m, 2h, up to 1d; 30m by default', minutesIn)
    .option('--public', 'use the public link, which opens every file of the locker until it is rotated or closed')
    .option('--qr', 'also show it as a QR code')
    .action(async (name: string, { expires, ...options }: ShareCommandOptions, command: Command) => {
      if (expires !== undefined && options.public)
        throw new UsageError('the public link does not expire: leave out --expires or --public')
      await share(await open(command), name, { ...options, ...(expires !== undefined && { ttl: expires }) })
    })
}

const MINUTES = { m: 1, h: 60, d: 1440 }

function minutesIn(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  const minutes = Number(count) * MINUTES[(unit ?? 'm') as keyof typeof MINUTES]
  if (minutes >= 1 && minutes <= MAX_MINUTES) return minutes
  throw new InvalidArgumentError('It must be a time like 45m, 2h or 1d, at most one day.')
}
