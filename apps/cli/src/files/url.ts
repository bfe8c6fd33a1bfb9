import { fileUrls } from '@svc/api/files'
import { ENCRYPTED_ENDING, publicUrl } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure } from '../errors.ts'
import { durationText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

export interface ShareOptions {
  /** Minutes. */
  ttl?: number
  public?: boolean
  qr?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('url')
    .description('a link that gives a file to anybody who has it; `svc share` does the same')
    .argument('<name>', 'a file of the locker')
    .option('--ttl <minutes>', 'how long it works: 1 to 1440; 30 unless given', minutes)
    .option('--public', 'the address through the public link, which works until the link is rotated or closed')
    .action(async (name: string, options: ShareOptions, command: Command) => share(await open(command), name, options))
}

export const MAX_MINUTES = 1440

export function minutes(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_MINUTES) return value
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_MINUTES}.`)
}

export async function share(session: Session, filename: string, options: ShareOptions): Promise<void> {
  const { output } = session
  const locker = await session.locker()
  const { url, expires_in_sec } = await (options.public ? byPublicLink : byShortUrl)(session, locker, filename, options)
  output.result({ filename, url, expires_in_sec }, () => shown(url))
  if (options.qr) output.note(`\n${(await import('../output/qr.ts')).qrText(url)}\n`)
  output.note(
    expires_in_sec === null
      ? 'Anyone who has it can read every file of the locker whose name they know. `svc link` changes it.'
      : `It works for ${durationText(expires_in_sec)}.`,
  )
  if (filename.endsWith(ENCRYPTED_ENDING)) output.note('The file is encrypted: its readers need the key as well.')
}

interface Shared {
  url: string
  /** Null for the public link, which has no end. */
  expires_in_sec: number | null
}

async function byPublicLink(session: Session, locker: NamedLocker, filename: string): Promise<Shared> {
  return { url: publicUrl(session.gateway, await openingId(session, locker), filename), expires_in_sec: null }
}

async function byShortUrl(
  session: Session,
  locker: NamedLocker,
  filename: string,
  { ttl }: ShareOptions,
): Promise<Shared> {
  const client = await session.lockerClient(locker)
  const body = { filenames: [filename], ...(ttl !== undefined && { ttl_min: ttl }) }
  const params = { locker_id: locker.locker_id }
  const { urls, urls_expire_in_sec } = (await client.call(fileUrls, { params, body, signal: session.world.signal }))
    .body
  const [found] = urls
  if (!found) throw new Failure(`there is no ${filename}, or it has no bytes yet`, '`svc ls` shows what is there')
  return { url: found.download_url, expires_in_sec: urls_expire_in_sec }
}

/** Only the owner and operators can ask whether the link was rotated; others know no more than the receipt. */
async function openingId(session: Session, locker: NamedLocker): Promise<string> {
  const { receipt_id } = locker
  if ((await session.keys()).length === 0) return receipt_id
  const client = await session.lockerClient(locker)
  const { id } = await client.publicLink(locker, session.world.signal).catch((error: unknown) => {
    if (isGatewayError(error, 'SIGNATURE_INVALID')) return { id: receipt_id }
    throw error
  })
  if (id === null) throw new Failure('the public link of this locker is closed', '`svc link open` opens it again')
  return id
}
