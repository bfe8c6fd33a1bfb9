import type { DownloadUrls } from '@svc/api/file-entries'
import { fileUrls } from '@svc/api/files'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import { bytesText, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { rejectFolder } from './folder-error.ts'

export function add(program: Command, open: Open): void {
  program
    .command('stat')
    .description('size, type and hash of a file')
    .argument('<name>', 'a file of the locker')
    .action(async (name: string, _: object, command: Command) => stat(await open(command), name))
}

async function stat(session: Session, filename: string): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const { locker_id } = locker
  const client = await session.lockerClient(locker)
  const body = { filenames: [filename] }
  const { signal } = host
  const [found] = (await client.call(fileUrls, { params: { locker_id }, body, signal })).body.urls
  if (!found) {
    await rejectFolder(
      { client, locker, signal },
      filename,
      (folder) => `\`svc ls ${folder}\` lists its files, \`svc du ${folder}\` their size`,
    )
    throw new Failure(`the locker has no ${filename}, or its upload is not finished`, '`svc ls` lists its files')
  }
  const { size_bytes, content_type, content_hash, uploaded_at = null, provider_ref = null } = found
  const document = { filename, locker_id, size_bytes, content_type, content_hash, uploaded_at, provider_ref }
  output.result(document, () => statText(found))
}

function statText(found: DownloadUrls['urls'][number]): string {
  const { filename, size_bytes, content_type, content_hash, uploaded_at, provider_ref } = found
  const size = size_bytes === null ? 'not known yet' : `${bytesText(size_bytes)} (${size_bytes} bytes)`
  return pairs([
    ['name', shown(filename)],
    ['size', size],
    ['type', shown(content_type)],
    ['hash', content_hash ?? 'not recorded yet'],
    ...(uploaded_at ? [['uploaded', timeText(uploaded_at)] as const] : []),
    ...(provider_ref ? [['id at the provider', shown(provider_ref)] as const] : []),
  ])
}
