import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Download, plainName } from '@svc/sdk'
import { type Command, Option } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { bytesText, counted } from '../output/quantities.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { type DecryptOptions, decryption, withDecryptOptions } from './encryption.ts'
import { getListed, listed } from './get-listed.ts'
import { type Outcome, outcomeReporter } from './outcomes.ts'
import { decryptedName, type GetOptions, isOnDisk } from './safe-path.ts'
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
    .option(
      '-o, --out <path>',
      'target folder, or the file to write if you name a single one; - is standard output',
      '.',
    )
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
    if (name === undefined || others.length > 0) throw new UsageError('-o - writes a single file: name that file')
    return writeOut(session, locker, name, { isMember, decrypt })
  }
  const getNamed = isMember ? getAsMember : getPublicly
  return getNamed(session, locker, names, { out, overwrite, decrypt })
}

/** `-o` is a file if a single file is named, except for an existing folder and a path that ends with a slash. */
async function prepareTarget(options: GetOptions, isOneFile: boolean): Promise<GetOptions> {
  const { out } = options
  const found = await stat(out).catch(() => null)
  const isFile = found ? !found.isDirectory() : isOneFile && !out.endsWith('/')
  if (isFile && !isOneFile)
    throw new UsageError(`${out} is a file, but several files need a folder`, 'name a folder with -o')
  await makeFolder(isFile ? dirname(out) : out)
  return isFile ? { ...options, file: out } : options
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' && error.code !== 'ENOTDIR') throw error
    throw new Failure(`${path} cannot be a folder: a file is in the way`, 'name another path with -o')
  })
}

async function getAsMember(
  session: Session,
  locker: NamedLocker,
  names: readonly string[],
  given: GetOptions,
): Promise<void> {
  const { output, host } = session
  const { signal } = host
  const client = await session.lockerClient(locker)
  const entries = await listed(client, locker, names, signal, { isPlaintextWanted: given.decrypt != null })
  const [name] = names
  const isOneFile = entries.size === 1 && names.length === 1 && [...entries.keys()].every((own) => isFileOf(own, name))
  const options = await prepareTarget(given, isOneFile)
  const total = [...entries.values()].reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0)
  output.note(`${counted(entries.size, 'file')}, ${bytesText(total)} → ${given.out}`)
  const { report, end } = outcomeReporter(output)
  await output.withProgress('get', total, (progress) =>
    getListed({ client, locker, options, signal, progress, note: output.note, report }, entries),
  )
  end(retryHint(options))
}

/** Whether the name is that of the file, and not of a folder with it. */
function isFileOf(filename: string, name: string | undefined): boolean {
  return filename === name || plainName(filename) === name
}

async function getPublicly(
  session: Session,
  { receipt_id }: NamedLocker,
  names: readonly string[],
  given: GetOptions,
): Promise<void> {
  const { output, host } = session
  const { signal } = host
  if (names.length === 0) throw new UsageError('name the files to get: without a wallet they cannot be listed')
  const options = await prepareTarget(given, names.length === 1)
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
  const elsewhere = (savedAs: string) => savedAs !== filename && { saved_as: savedAs }
  if (await isOnDisk(filename, { filename, size_bytes, content_hash }, options)) {
    await download.stream.cancel()
    return { ...facts, status: 'unchanged', ...elsewhere(options.file ?? decryptedName(filename, options)) }
  }
  const { savedAs, isEncrypted } = await saveDownload(download, { name: filename, note }, options)
  return { ...facts, status: 'saved', ...elsewhere(savedAs), ...(isEncrypted && { encrypted: true }) }
}
