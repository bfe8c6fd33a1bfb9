import { mkdir, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Download } from '@svc/sdk'
import { type Command, Option } from 'commander'
import { UsageError } from '../errors.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shellWord } from '../output/shell-word.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { type DecryptOptions, decryption, withDecryptOptions } from './encryption.ts'
import { getListed, listed } from './get-listed.ts'
import { type Outcome, outcomeReporter } from './outcomes.ts'
import { type GetOptions, isOnDisk } from './safe-path.ts'
import { saveDownload } from './save-download.ts'
import { writeOut } from './write-out.ts'

interface GetCommandOptions extends DecryptOptions {
  out: string
  overwrite?: boolean
  public?: boolean
}

/** Decrypted downloads start over; others resume. */
function retryHint({ decrypt }: GetOptions): string {
  return `run the same command again: files that are already here are skipped${decrypt ? '' : ', and large ones resume'}`
}

export function add(program: Command, open: Open): void {
  const getting = program
    .command('get')
    .description('download files and check their hashes')
    .argument('[name...]', 'files and folders of the locker; by default all')
    .option('-o, --out <folder>', 'target folder; - writes one file to standard output', '.')
    .option('-f, --overwrite', 'replace existing files that have other content')
    .addOption(new Option('--force', 'same as --overwrite').implies({ overwrite: true }).hideHelp())
    .option('--public', 'read without signing, through the public link; the default without a wallet')
  withDecryptOptions(getting).action(async (names: string[], options: GetCommandOptions, command: Command) =>
    get(await open(command), names, options),
  )
}

async function get(session: Session, names: readonly string[], options: GetCommandOptions): Promise<void> {
  const { out, overwrite = false } = options
  const locker = await session.locker()
  const isMember = !options.public && (await session.keys()).length > 0
  const decrypt = await decryption(session, locker, options)
  if (out === '-') {
    const [name, ...others] = names
    if (name === undefined || others.length > 0) throw new UsageError('-o - writes one file: name it')
    return writeOut(session, locker, name, { isMember, decrypt })
  }
  await requireFolder(out, names)
  await mkdir(out, { recursive: true })
  const getNamed = isMember ? getAsMember : getPublicly
  return getNamed(session, locker, names, { out, overwrite, decrypt })
}

/** A user who gives one file and `-o copy.txt` wants that file, not a folder of that name. */
async function requireFolder(out: string, names: readonly string[]): Promise<void> {
  const found = await stat(out).catch(() => null)
  const [name = ''] = names
  const toFile = (of: string) => `\`svc get ${of} -o - > ${shellWord(out)}\` saves one file under this name`
  if (found && !found.isDirectory())
    throw new UsageError(`${out} is a file, but -o must be a folder`, toFile(shellWord(name || 'NAME')))
  const looksLikeFile = names.length === 1 && extname(out) !== '' && extname(out) === extname(name)
  if (!found && looksLikeFile && !out.endsWith('/'))
    throw new UsageError(`${out} would be a folder`, `${toFile(shellWord(name))}; for a folder, add a slash`)
}

async function getAsMember(
  session: Session,
  locker: NamedLocker,
  names: readonly string[],
  options: GetOptions,
): Promise<void> {
  const { output, host } = session
  const { signal } = host
  const client = await session.lockerClient(locker)
  const entries = await listed(client, locker, names, signal, { isPlaintextWanted: options.decrypt != null })
  const total = [...entries.values()].reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0)
  output.note(`${counted(entries.size, 'file')}, ${bytesText(total)} → ${options.out}`)
  const { report, end } = outcomeReporter(output)
  await output.withProgress('get', total, (progress) =>
    getListed({ client, locker, options, signal, progress, note: output.note, report }, entries),
  )
  end(retryHint(options))
}

async function getPublicly(
  session: Session,
  { receipt_id }: NamedLocker,
  names: readonly string[],
  options: GetOptions,
): Promise<void> {
  const { output, host } = session
  const { signal } = host
  if (names.length === 0) throw new UsageError('name the files to get: without a wallet they cannot be listed')
  const client = await session.client()
  const { report, end } = outcomeReporter(output)
  for (const filename of names) {
    const fetched = client
      .getPublicly(receipt_id, filename, { signal })
      .then((download) => save(download, options, output.note))
    report(await fetched.catch((error: unknown) => ({ filename, status: 'failed', error })))
    signal.throwIfAborted()
  }
  end(retryHint(options))
}

async function save(download: Download, options: GetOptions, note: (text: string) => void): Promise<Outcome> {
  const { filename, contentHash: content_hash, size: size_bytes } = download
  const facts = { filename, size_bytes: size_bytes ?? 0, content_hash }
  if (await isOnDisk(filename, { filename, size_bytes, content_hash }, options)) {
    await download.stream.cancel()
    return { ...facts, status: 'unchanged' }
  }
  const { isEncrypted } = await saveDownload(download, { name: filename, note }, options)
  return { ...facts, status: 'saved', ...(isEncrypted && { encrypted: true }) }
}
