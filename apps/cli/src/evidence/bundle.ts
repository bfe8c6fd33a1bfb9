import { randomUUID } from 'node:crypto'
import { access, open as openFile, rename, rm } from 'node:fs/promises'
import type { DsseFormat } from '@svc/api/dsse'
import { readPublicly } from '@svc/api/transfers'
import { utf8 } from '@svc/protocol/bytes'
import { isGatewayError } from '@svc/sdk/errors'
import { type Command, Option } from 'commander'
import { UsageError } from '../errors.ts'
import { lockerArgument, repeatedOption, type StatementOptions, sequenceOf, statementOption } from '../options.ts'
import { written } from '../output/output.ts'
import { bytesText, counted } from '../output/quantities.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { type Redacted, redact } from './redact.ts'

/** The values of `--format`, and the gateway's names for them. */
const FORMATS: Record<string, DsseFormat> = { dsse: 'dsse', sigstore: 'sigstore-bundle' }

interface BundleOptions extends StatementOptions {
  out?: string
  format?: string
  redact?: boolean
  file?: string[]
  from?: string
}

export function add(program: Command, open: Open): void {
  program
    .command('bundle')
    .description('download all evidence about the locker, for `svc verify`; needs no wallet')
    .addArgument(lockerArgument())
    .option('-o, --out <file>', 'the file to write; by default standard output')
    .option('--redact', 'leave out the receipt, which can open files, and the names of all files')
    .addOption(
      new Option('--format <name>', 'for other verifiers: an in-toto statement in DSSE, or a Sigstore bundle').choices(
        Object.keys(FORMATS),
      ),
    )
    .addOption(repeatedOption('--file <name>', 'with --redact: show this file; with --format: prove only this file'))
    .option('--from <bundle>', 'with --redact: the bundle to redact, instead of asking the gateway')
    .addOption(statementOption())
    .addHelpText(
      'after',
      `
A bundle lists all file names, sizes and hashes, and names the receipt: anyone who gets it can open
every file of the locker, unless the public link was closed or rotated (\`svc link\`). Anyone who has
the receipt id gets the same bundle from the gateway. A redacted bundle opens nothing. It proves the
files that --file names, or, without --file, all files to those who have them: it holds their
hashes, and no name.

With --format, cosign and Sigstore libraries can check it with the key of \`svc keys\`. It
opens nothing either, and names all files, or the one of --file; large lockers need --file.`,
    )
    .action(async (locker: string | undefined, options: BundleOptions, command: Command) =>
      bundle(await open(command), locker, options),
    )
}

async function bundle(session: Session, wanted: string | undefined, options: BundleOptions): Promise<void> {
  const { output, host } = session
  const { stdout } = host
  const { out } = options
  await requireCompatible(wanted, options)
  const write = await (options.redact ? redactedBundle : options.format ? dsseBundle : wholeBundle)(
    session,
    wanted,
    options,
  )
  if (out === undefined) {
    if (stdout.isTTY)
      throw new UsageError('a bundle is too long for a terminal: give a file with -o, or pipe it to a program')
    await write(new WritableStream({ write: (chunk) => written(stdout, chunk) }))
    return warnOfReceipt(session, wanted, options)
  }
  const { bytes, result } = await writeWhole(out, write)
  output.result(
    { file: out, size_bytes: bytes, ...documentOf(result) },
    () => `${out}: ${bytesText(bytes)}${shownText(result)}`,
  )
  await warnOfReceipt(session, wanted, options)
  output.note(`\nNext: \`svc verify ${out}\``)
}

async function requireCompatible(wanted: string | undefined, options: BundleOptions): Promise<void> {
  const { redact: isRedacted = false, file, from, statement, format } = options
  if (isRedacted && format) throw new UsageError('--format already leaves out the receipt: leave out --redact')
  if (format && file && file.length > 1) throw new UsageError('with --format, give --file only once')
  if (!isRedacted && !format && file) throw new UsageError('--file needs --redact or --format')
  if (!isRedacted && from !== undefined) throw new UsageError('--from needs --redact')
  if (from === undefined) return
  if (wanted !== undefined || statement !== undefined)
    throw new UsageError('--from names the bundle: leave out the locker and --statement')
  await access(from).catch(() => {
    throw new UsageError(`the bundle ${from} cannot be read`)
  })
}

async function warnOfReceipt(session: Session, wanted: string | undefined, options: BundleOptions): Promise<void> {
  const { output } = session
  if (options.redact || options.format || output.isJson) return
  output.note(
    (await isPublicLinkOpen(session, await session.locker(wanted)))
      ? 'Anyone with this bundle can open every file in the locker: it names the receipt, and the public link at its id is' +
          ' open. To prove without opening, share a redacted bundle: `svc bundle --redact`, with --file <name> for each' +
          ' file to show.'
      : 'This bundle lists all file names, sizes and hashes, and names the receipt. It opens no file as long as the public' +
          ' link is closed or rotated. `svc bundle --redact` shows less.',
  )
}

/**
 * Whether the public link is open at the receipt id. It asks for `:`, which cannot be a file name, so no file is read.
 */
async function isPublicLinkOpen(session: Session, { receipt_id }: NamedLocker): Promise<boolean> {
  const client = await session.client()
  try {
    await client.open(readPublicly, { params: { receipt_id, filename: ':' }, signal: session.host.signal })
    return true
  } catch (error) {
    return !isGatewayError(error, 'receipt_not_found')
  }
}

type Result = { receipt_id: string } | Redacted
type Write = (target: WritableStream<Uint8Array>) => Promise<Result>

async function wholeBundle(session: Session, wanted: string | undefined, options: BundleOptions): Promise<Write> {
  const { receipt_id } = await session.locker(wanted)
  const client = await session.client()
  return async (target) => {
    await client.bundle(receipt_id, target, { ...sequenceOf(options), signal: session.host.signal })
    return { receipt_id }
  }
}

async function dsseBundle(session: Session, wanted: string | undefined, options: BundleOptions): Promise<Write> {
  const { receipt_id } = await session.locker(wanted)
  const client = await session.client()
  const [filename] = options.file ?? []
  const asked = { ...sequenceOf(options), ...(filename !== undefined && { filename }), signal: session.host.signal }
  return async (target) => {
    const format = FORMATS[options.format ?? ''] ?? 'dsse'
    const writer = target.getWriter()
    await writer.write(utf8(JSON.stringify(await client.dsse(receipt_id, { ...asked, format }))))
    await writer.close()
    return { receipt_id }
  }
}

async function redactedBundle(session: Session, wanted: string | undefined, options: BundleOptions): Promise<Write> {
  const { file: filenames, from } = options
  const source =
    from === undefined
      ? { receipt_id: (await session.locker(wanted)).receipt_id, ...sequenceOf(options) }
      : { path: from }
  return (target) => redact(session, source, target, filenames)
}

function documentOf(result: Result): object {
  if ('receipt_id' in result) return result
  const { redaction, shown, total } = result
  return { redaction, files_shown: shown, files: total }
}

function shownText(result: Result): string {
  if ('receipt_id' in result) return ''
  const { redaction, shown, total } = result
  if (redaction === 'no_names') return `, proves ${counted(total, 'file')} and names none`
  return `, proves ${shown} of ${counted(total, 'file')} and names no other file`
}

/** Writes to a temporary file and renames it once it is complete. */
async function writeWhole(path: string, write: Write): Promise<{ bytes: number; result: Result }> {
  const draft = `${path}.${randomUUID()}.part`
  const file = await openFile(draft, 'wx')
  try {
    const result = await write(new WritableStream({ write: (chunk) => file.writeFile(chunk) }))
    await file.sync()
    const { size } = await file.stat()
    await rename(draft, path)
    return { bytes: size, result }
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}
