import { fileUrls, MAX_FILES_PER_BATCH } from '@svc/api/files'
import type { Client } from '@svc/sdk'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { type Listing, rejectFolder, unlessFolder } from './folder-error.ts'
import { matching } from './matching.ts'

interface RmOptions {
  recursive?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('rm')
    .description('remove files from the locker; asks first')
    .argument('<name...>', 'files, and with -r folders')
    .option('-r, --recursive', 'also all files in folders of these names')
    .action(async (names: string[], options: RmOptions, command: Command) => rm(await open(command), names, options))
}

async function rm(session: Session, names: readonly string[], { recursive = false }: RmOptions): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const filenames = recursive ? await below(client, locker, names, host.signal) : names
  const from = locker.name ?? locker.locker_id
  if (!recursive && !session.isYes) await rejectFolders({ client, locker, signal: host.signal }, names)
  const what = filenames.length === 1 ? shown(JSON.stringify(filenames[0])) : counted(filenames.length, 'file')
  if (!(await session.confirm(`Remove ${what} from ${from}?`))) throw new Failure('nothing was removed')
  for (const filename of filenames) {
    host.signal.throwIfAborted()
    const removed = await client
      .remove(locker, filename)
      .catch(unlessFolder({ client, locker, signal: host.signal }, filename, adviceFor))
    const kept = removed.bytes_removed ? '' : ' (its provider cannot delete the bytes)'
    output.item(removed, () => `removed ${shown(filename)}${kept}`)
  }
}

const adviceFor = (folder: string) => `\`svc rm -r ${folder}\` removes all its files`

/** Before the question, so that nobody agrees to what cannot be done. */
async function rejectFolders(listing: Listing, names: readonly string[]): Promise<void> {
  const { client, locker, signal } = listing
  const filenames = names.slice(0, MAX_FILES_PER_BATCH)
  const { body } = await client.call(fileUrls, { params: { locker_id: locker.locker_id }, body: { filenames }, signal })
  const found = new Set(body.urls.map(({ filename }) => filename))
  for (const name of filenames) if (!found.has(name)) await rejectFolder(listing, name, adviceFor)
}

async function below(client: Client, locker: NamedLocker, names: readonly string[], signal: AbortSignal) {
  const filenames: string[] = []
  for await (const { entry } of matching(client.files(locker, { signal }), names)) filenames.push(entry.filename)
  return filenames
}
