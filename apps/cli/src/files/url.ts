import { fileUrls } from '@svc/api/files'
import { publicUrl } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure } from '../errors.ts'
import { durationText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

interface UrlOptions {
  ttl?: number
  public?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('url')
    .description('an address that brings a file to anybody who has it')
    .argument('<name>', 'a file of the locker')
    .option('--ttl <minutes>', 'how long it works: 1 to 1440; 30 unless given', minutes)
    .option('--public', 'the address by the public link, which works until the link is rotated or closed')
    .action(async (name: string, options: UrlOptions, command: Command) => url(await open(command), name, options))
}

function minutes(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= 1440) return value
  throw new InvalidArgumentError('It must be a whole number from 1 to 1440.')
}

async function url(session: Session, filename: string, { ttl, public: isPublic = false }: UrlOptions): Promise<void> {
  const { output, world, gateway } = session
  const locker = await session.locker()
  const { locker_id } = locker
  if (isPublic) {
    const address = publicUrl(gateway, await openingId(session, locker), filename)
    output.result({ filename, url: address, expires_in_sec: null }, () => address)
    output.note('Anyone who has it can read every file of the locker whose name they know. `svc link` changes it.')
    return
  }
  const client = await session.lockerClient(locker)
  const body = { filenames: [filename], ...(ttl !== undefined && { ttl_min: ttl }) }
  const answer = await client.call(fileUrls, { params: { locker_id }, body, signal: world.signal })
  const { urls, urls_expire_in_sec } = answer.body
  const [found] = urls
  if (!found) throw new Failure(`there is no ${filename}, or it has no bytes yet`, '`svc ls` shows what is there')
  const document = { filename, url: found.download_url, expires_in_sec: urls_expire_in_sec }
  output.result(document, () => shown(found.download_url))
  output.note(`It works for ${durationText(urls_expire_in_sec)}.`)
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
