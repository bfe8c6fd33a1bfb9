import { fileUrls } from '@svc/api/files'
import { ENCRYPTED_ENDING, publicUrl } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure } from '../errors.ts'
import type { Output } from '../output/output.ts'
import { durationText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { rejectFolder } from './folder-error.ts'

interface UrlOptions {
  /** Minutes. */
  ttl?: number
  public?: boolean
  qr?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('url')
    .description('make a temporary link that opens a file for anyone who has it, for at most a day')
    .argument('<name>', 'a file of the locker')
    .option('--ttl <minutes>', 'how long it works: 1 to 1440; 30 by default', minutes)
    .option('--public', 'use the public link, which opens every file of the locker until it is rotated or closed')
    .action(async (name: string, options: UrlOptions, command: Command) => printUrl(await open(command), name, options))
}

const MAX_MINUTES = 1440

export function minutes(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_MINUTES) return value
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_MINUTES}.`)
}

export async function printUrl(session: Session, filename: string, options: UrlOptions): Promise<void> {
  const { output } = session
  const locker = await session.locker()
  const shared = await (options.public ? byPublicLink : byShortUrl)(session, locker, filename, options)
  const { url, expires_in_sec, about } = shared
  output.result({ filename, url, expires_in_sec }, () => shown(url))
  if (options.qr) output.note(`\n${(await import('../output/qr.ts')).qrText(url)}\n`)
  output.note(about)
  warnIfEncrypted(output, filename)
}

export function warnIfEncrypted(output: Output, filename: string): void {
  if (filename.endsWith(ENCRYPTED_ENDING)) output.note('The file is encrypted: readers also need the key.')
}

interface Shared {
  url: string
  /** Null for the public link, which does not expire. */
  expires_in_sec: number | null
  /** What users must know before they share it. */
  about: string
}

async function byPublicLink(session: Session, locker: NamedLocker, filename: string): Promise<Shared> {
  const id = await openingId(session, locker)
  const about = `${aboutPublicLink(id, locker)} \`svc link\` rotates or closes it.`
  return { url: publicUrl(session.gateway, id, filename), expires_in_sec: null, about }
}

/** A rotated link has its own id, but only the receipt id leads to the evidence. */
export function aboutPublicLink(id: string, { receipt_id }: NamedLocker): string {
  const opens = 'Anyone with this link can open every file in the locker'
  return id === receipt_id
    ? `${opens}. Once the locker is attested, the evidence at the same id lists all file names, sizes and hashes.`
    : `${opens} whose name they know. The evidence, which lists all names, is at the receipt id, not at this id.`
}

async function byShortUrl(
  session: Session,
  locker: NamedLocker,
  filename: string,
  { ttl }: UrlOptions,
): Promise<Shared> {
  const client = await session.lockerClient(locker)
  const body = { filenames: [filename], ...(ttl !== undefined && { ttl_min: ttl }) }
  const params = { locker_id: locker.locker_id }
  const { signal } = session.host
  const { urls, urls_expire_in_sec } = (await client.call(fileUrls, { params, body, signal })).body
  const [found] = urls
  if (!found) {
    await rejectFolder({ client, locker, signal }, filename, (folder) => `\`svc share ${folder}\` shares all its files`)
    throw new Failure(`the locker has no ${filename}, or its upload is not finished`, '`svc ls` lists its files')
  }
  const about = `It works for ${durationText(urls_expire_in_sec)}.`
  return { url: found.download_url, expires_in_sec: urls_expire_in_sec, about }
}

/** Only the owner and operators can ask whether the link was rotated; other callers use the receipt id. */
async function openingId(session: Session, locker: NamedLocker): Promise<string> {
  const { receipt_id } = locker
  if ((await session.keys()).length === 0) return receipt_id
  const client = await session.lockerClient(locker)
  const { id } = await client.publicLink(locker, session.host.signal).catch((error: unknown) => {
    if (isGatewayError(error, 'SIGNATURE_INVALID')) return { id: receipt_id }
    throw error
  })
  if (id === null) throw new Failure('the public link of this locker is closed', '`svc link open` opens it again')
  return id
}
