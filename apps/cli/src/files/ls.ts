import type { ManifestEntry } from '@svc/api/file-entries'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import type { Command } from 'commander'
import { bytesText, counted, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { matching } from './matching.ts'

interface LsOptions {
  hash?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('ls')
    .description('list the files of the locker')
    .argument('[name...]', 'files and folders; by default all')
    .option('--hash', 'show hashes')
    .action(async (names: string[], options: LsOptions, command: Command) => ls(await open(command), names, options))
}

async function ls(session: Session, names: readonly string[], options: LsOptions): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const entries: ManifestEntry[] = []
  for await (const { entry } of matching(client.files(locker, { signal: host.signal }), names)) {
    if (output.isJson) output.result(entry, () => '')
    else entries.push(entry)
  }
  if (entries.length > 0) output.result(entries, () => filesText(entries, options))
  const bytes = entries.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0)
  const encrypted = entries.filter(({ filename }) => filename.endsWith(ENCRYPTED_ENDING)).length
  const ofThese = encrypted > 0 ? `; ${encrypted} encrypted (\`svc get --decrypt\` decrypts them)` : ''
  output.note(`${counted(entries.length, 'file')}, ${bytesText(bytes)}${ofThese}`)
}

function filesText(entries: readonly ManifestEntry[], { hash = false }: LsOptions): string {
  const columns = [
    { title: 'SIZE', isRight: true },
    { title: 'RECORDED' },
    ...(hash ? [{ title: 'HASH' }] : []),
    { title: 'NAME' },
  ]
  const rows = entries.map(({ filename, size_bytes, hash_recorded_at, content_hash, status }) => [
    size_bytes === null ? '-' : bytesText(size_bytes),
    status === 'confirmed' ? timeText(hash_recorded_at) : 'not confirmed',
    ...(hash ? [content_hash ?? '-'] : []),
    shown(filename),
  ])
  return table(columns, rows)
}
