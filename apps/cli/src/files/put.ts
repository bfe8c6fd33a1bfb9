import { addAbortSignal } from 'node:stream'
import {
  type Client,
  contentTypeOf,
  ENCRYPTED_ENDING,
  type NamedBytes,
  type PutOutcome,
  plainName,
  SMALL_FILE_BYTES,
  type Source,
  type StoredFile,
  streamSource,
} from '@svc/sdk'
import { type FoundFile, fileSource } from '@svc/sdk/node'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { excludeOption, followOption } from '../options.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { keyFiles } from '../setup/wallet.ts'
import { type Collected, type CollectOptions, collect, nameFor, secretsAt } from './collect.ts'
import { type Encrypt, type EncryptOptions, encryption, secretFilesOf, withEncryptOptions } from './encryption.ts'
import { type Outcome, outcomeReporter } from './outcomes.ts'
import { isStored, type Stored, storedUnder } from './unchanged.ts'

interface PutOptions extends CollectOptions, EncryptOptions {
  type?: string
}

const AT_ONCE = 4

export function add(program: Command, open: Open): void {
  const putting = program
    .command('put')
    .description('upload files and the contents of folders to the locker')
    .argument('<path...>', 'files and folders; - is the standard input')
    .option('--to <folder>', 'folder of the locker to put them in')
    .option('--as <name>', 'name in the locker; for one file')
    .option('--type <type>', 'content type, for example image/png; by the name unless given')
    .addOption(followOption())
    .addOption(excludeOption())
  withEncryptOptions(putting)
    .addHelpText(
      'after',
      `
Names are relative to the folder that is given: \`svc put photos\` puts photos/a.jpg as a.jpg, and
\`svc get -o photos\` brings it back. Unchanged files are skipped, and an interrupted upload
of a large file resumes where it stopped.

With --encrypt the gateway sees names, sizes and times, but no content. \`svc get --decrypt\` brings
it back, and so does the program age: \`age -d\`.`,
    )
    .action(async (paths: string[], options: PutOptions, command: Command) => put(await open(command), paths, options))
}

async function put(session: Session, paths: readonly string[], options: PutOptions): Promise<void> {
  if (paths.includes('-')) return putStandardInput(session, paths, options)
  const { output, world } = session
  const secrets = [session.folder, ...keyFiles(world.env, session.settings.wallet), ...secretFilesOf(options)]
  const isSecret = await secretsAt(secrets)
  const locker = await session.locker()
  const encrypt = await encryption(session, locker, options)
  const { files, leftOut } = await collect(paths, {
    ...options,
    isSecret,
    ...(encrypt && { ending: ENCRYPTED_ENDING }),
  })
  for (const line of leftOutText(leftOut)) output.note(line)
  const client = await session.lockerClient(locker)
  const names = files.map(({ name }) => name)
  const stored = await storedUnder(client, locker, names, world.signal)
  if (encrypt) await warnOfPlaintext(session, client, locker, names)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  output.note(`${counted(files.length, 'file')}, ${bytesText(total)} → ${locker.name ?? locker.locker_id}`)
  const outcomes = outcomeReporter(output)
  await output.withProgress('put', total, (progress) =>
    putAll(session, client, locker, files, stored, { ...options, encrypt }, (outcome, bytes) => {
      progress.add(bytes)
      if (outcome) outcomes.report(outcome)
    }),
  )
  outcomes.end('run the same command again: files that are already stored are skipped')
}

/** What was stored before it was encrypted is still there under its plain name. */
async function warnOfPlaintext(session: Session, client: Client, locker: NamedLocker, names: readonly string[]) {
  const plain = await storedUnder(client, locker, names.map(plainName), session.world.signal)
  const [first] = plain.keys()
  if (first === undefined) return
  const which =
    plain.size === 1 ? `${shown(first)} is` : `${shown(first)} and ${counted(plain.size - 1, 'more file')} are`
  session.output.warn(`${which} in the locker unencrypted as well: \`svc rm\` removes that`)
}

const LEFT_OUT_SHOWN = 20

function leftOutText(leftOut: Collected['leftOut']): string[] {
  const some = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ name, leftOut: why }) => `left out: ${shown(name)} (${why})`)
  return leftOut.length > LEFT_OUT_SHOWN ? [...some, `left out: ${leftOut.length - LEFT_OUT_SHOWN} more`] : some
}

/** Reports a finished file, or progress in bytes. */
type Report = (outcome: Outcome | null, bytes: number) => void

async function putAll(
  { world }: Session,
  client: Client,
  locker: NamedLocker,
  files: readonly FoundFile[],
  stored: ReadonlyMap<string, Stored>,
  { type, encrypt }: { type?: string; encrypt: Encrypt | null },
  report: Report,
): Promise<void> {
  const { signal } = world

  /** Yields the files that are not stored yet, and reports the others as unchanged. */
  async function* changed(some: readonly FoundFile[]): AsyncGenerator<NamedSource> {
    for (const file of some) {
      signal.throwIfAborted()
      const there = stored.get(file.name)
      const content_hash = there?.content_hash ?? null
      const encrypted = encrypt && (await encrypt(await fileSource(file.path), file.name))
      const isSame = encrypted ? encrypted.contentHash === content_hash : await isStored(file, there)
      if (!isSame) yield { name: file.name, source: encrypted ?? (await fileSource(file.path)) }
      else
        report(
          { filename: file.name, status: 'unchanged', size_bytes: encrypted?.size ?? file.size, content_hash },
          file.size,
        )
    }
  }

  async function* sources(some: readonly FoundFile[]): AsyncGenerator<NamedBytes> {
    for await (const { name, source } of changed(some))
      yield { filename: name, bytes: source, contentType: type ?? contentTypeOf(name) }
  }

  const onFile = (outcome: PutOutcome) =>
    report(outcomeOf(outcome), 'stored' in outcome ? outcome.stored.size_bytes : 0)
  const small = files.filter(({ size }) => size <= SMALL_FILE_BYTES)
  await client.putMany(locker, sources(small), { atOnce: AT_ONCE, onFile, signal })

  const large = files.filter(({ size }) => size > SMALL_FILE_BYTES)
  for await (const { name, source } of changed(large)) {
    let done = 0
    const onProgress = (bytes: number) => {
      report(null, bytes - done)
      done = bytes
    }
    const options = { contentType: type ?? contentTypeOf(name), onProgress, signal }
    const outcome = await client.put(locker, name, source, options).then(
      (file) => ({ filename: name, stored: file }),
      (error: unknown) => ({ filename: name, error }),
    )
    signal.throwIfAborted()
    report(outcomeOf(outcome), 0)
  }
}

interface NamedSource {
  name: string
  source: Source
}

function outcomeOf(outcome: PutOutcome): Outcome {
  if ('error' in outcome) return { filename: outcome.filename, status: 'failed', error: outcome.error }
  return storedOutcome(outcome.stored)
}

function storedOutcome({ filename, size_bytes, content_hash }: StoredFile): Outcome {
  return { filename, status: 'stored', size_bytes, content_hash }
}

async function putStandardInput(session: Session, paths: readonly string[], options: PutOptions): Promise<void> {
  const { as: name, type } = options
  if (paths.length > 1 || name === undefined) throw new UsageError('- stands alone, and needs --as NAME')
  const { output, world } = session
  const locker = await session.locker()
  const encrypt = await encryption(session, locker, options)
  const filename = nameFor(name, { ...options, ...(encrypt && { ending: ENCRYPTED_ENDING }) })
  const client = await session.lockerClient(locker)
  const input = streamSource(addAbortSignal(world.signal, world.stdin), null)
  const source = encrypt ? await encrypt(input, filename) : input
  const contentType = type ?? contentTypeOf(filename)
  const stored = await client.put(locker, filename, source, { contentType, signal: world.signal })
  outcomeReporter(output).report(storedOutcome(stored))
}
