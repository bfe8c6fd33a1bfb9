import type { ManifestEntry } from '@svc/api/file-entries'
import type { Rename } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import type { Command } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'

interface MvOptions {
  overwrite?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('mv')
    .usage('[options] <name...> <new-name>')
    .description('rename files and folders of the locker, or move them into a folder, without uploading')
    .argument('<name...>', 'files and folders, then the new name or a folder')
    .option('-f, --overwrite', 'replace files that have the new names')
    .addHelpText(
      'after',
      `
  $ svc mv draft.pdf final.pdf       another name
  $ svc mv a.jpg b.jpg 2026/         into a folder; a slash at the end makes it one
  $ svc mv 2025 archive              a whole folder: 2025/x becomes archive/2025/x if there is an
                                     archive, else archive/x

Recorded hashes stay the same. Links to the old names no longer work.`,
    )
    .action(async (names: string[], options: MvOptions, command: Command) => mv(await open(command), names, options))
}

/** The limit of one request. */
const RENAMES_AT_ONCE = 1000

async function mv(session: Session, names: readonly string[], { overwrite = false }: MvOptions): Promise<void> {
  const { output, host } = session
  const { signal } = host
  const target = names.at(-1)
  if (target === undefined || names.length < 2) throw new UsageError('give the old name and the new one')
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const entries = new Map<string, ManifestEntry>()
  for await (const entry of client.files(locker, { signal })) entries.set(entry.filename, entry)
  const renames = planRenames(entries, names.slice(0, -1), target)
  if (!overwrite) requireFree(renames, entries)
  for (let start = 0; start < renames.length; start += RENAMES_AT_ONCE) {
    const some = renames.slice(start, start + RENAMES_AT_ONCE)
    const { files } = await client.rename(locker, some, { overwrite, signal }).catch(requireNewer)
    for (const file of files) {
      const remark = file.replaced ? ' (replaced)' : ''
      output.item(file, () => `${shown(file.filename)} → ${shown(file.new_filename)}${remark}`)
    }
  }
  output.note(`${counted(renames.length, 'file')} renamed. Links to the old names no longer work.`)
}

/** Like `mv` of Unix: into a folder if there are several names, the target ends with a slash, or is a folder. */
export function planRenames(
  entries: ReadonlyMap<string, Pick<ManifestEntry, 'content_hash'>>,
  sources: readonly string[],
  target: string,
): Rename[] {
  const all = [...entries.keys()]
  const folder = target.replace(/\/+$/, '')
  const isFolder = sources.length > 1 || target.endsWith('/') || all.some((name) => name.startsWith(`${folder}/`))
  const renames = sources.flatMap((given) => {
    const source = given.replace(/\/+$/, '')
    const to = isFolder ? `${folder}/${source.slice(source.lastIndexOf('/') + 1)}` : target
    const found = all.filter((name) => (name === source && !given.endsWith('/')) || name.startsWith(`${source}/`))
    if (found.length === 0)
      throw new Failure(`the locker has no ${given}: nothing was renamed`, '`svc ls` lists its files')
    if (found.includes(to) || to.startsWith(`${source}/`))
      throw new UsageError(`${given} cannot be moved to ${to}, which is the same folder or inside it`)
    return found.map((filename) => renameOf(filename, to + filename.slice(source.length), entries))
  })
  requireDistinct(renames)
  return renames
}

function renameOf(
  filename: string,
  newFilename: string,
  entries: ReadonlyMap<string, Pick<ManifestEntry, 'content_hash'>>,
): Rename {
  const expectedHash = entries.get(filename)?.content_hash
  return { filename, newFilename, ...(expectedHash && { expectedHash }) }
}

function requireDistinct(renames: readonly Rename[]): void {
  const sources = new Map<string, string>()
  for (const { filename, newFilename } of renames) {
    const other = sources.get(newFilename)
    if (other !== undefined) throw new UsageError(`${other} and ${filename} would both get the name ${newFilename}`)
    sources.set(newFilename, filename)
  }
}

function requireFree(renames: readonly Rename[], entries: ReadonlyMap<string, unknown>): void {
  const taken = renames.filter(({ newFilename }) => entries.has(newFilename)).map(({ newFilename }) => newFilename)
  if (taken.length === 0) return
  const more = taken.length > 1 ? `, and ${counted(taken.length - 1, 'other')}` : ''
  throw new Failure(`${taken[0]} already exists${more}: nothing was renamed`, '--overwrite replaces it')
}

function requireNewer(error: unknown): never {
  if (!isGatewayError(error, 'not_found', 'method_not_allowed')) throw error
  throw new Failure(
    'this gateway runs an earlier release, which cannot rename files',
    'put the file under its new name (`svc put FILE --as NAME`), then remove the old one (`svc rm`)',
  )
}
