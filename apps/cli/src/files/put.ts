import { addAbortSignal } from 'node:stream'
import { type Client, contentTypeOf, ENCRYPTED_ENDING, plainName, streamSource } from '@svc/sdk'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { followOption } from '../options.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { keyFiles } from '../setup/wallet.ts'
import { type CollectOptions, collect, leftOutText, nameFor, secretsAt } from './collect.ts'
import { reportDeliveries } from './deliveries.ts'
import { type EncryptOptions, encryption, isEncrypting, secretFilesOf, withEncryptOptions } from './encryption.ts'
import { outcomeReporter } from './outcomes.ts'
import { excludeOptions, includeOption } from './patterns.ts'
import { putAll, storedOutcome } from './put-all.ts'
import { storedUnder } from './unchanged.ts'

interface PutOptions extends CollectOptions, EncryptOptions {
  type?: string
}

export function add(program: Command, open: Open): void {
  const putting = program
    .command('put')
    .description('upload files and the contents of folders to the locker')
    .argument('<path...>', 'files and folders; - is standard input')
    .option('--to <folder>', 'folder of the locker to put them in')
    .option('--as <name>', 'name in the locker; for one file')
    .option('--type <type>', 'content type, for example image/png; by default from the name')
    .addOption(followOption())
  for (const option of [includeOption(), ...excludeOptions()]) putting.addOption(option)
  withEncryptOptions(putting)
    .addHelpText(
      'after',
      `
Names are relative to the given folder: \`svc put photos\` puts photos/a.jpg as a.jpg, and
\`svc get -o photos\` downloads it again. Unchanged files are skipped, files of the same name are
replaced, and an interrupted upload of a large file resumes where it stopped.

A file .svcignore in the given folder lists what to leave out, in the format of .gitignore. System
files (.DS_Store, Thumbs.db, desktop.ini, ._*) are skipped unless it has a line like !Thumbs.db.

With --encrypt the gateway sees names, sizes and times, but no content. \`svc get --decrypt\`
decrypts it, and so does the program age: \`age -d\`.`,
    )
    .action(async (paths: string[], options: PutOptions, command: Command) => put(await open(command), paths, options))
}

async function put(session: Session, paths: readonly string[], given: PutOptions): Promise<void> {
  const options = isEncrypting(given) ? { ...given, ending: ENCRYPTED_ENDING } : given
  if (paths.includes('-')) return putStandardInput(session, paths, options)
  const { output, host } = session
  const secrets = [...keyFiles(host.env, session.settings.wallet), ...secretFilesOf(options)]
  const { files, ...others } = await collect(paths, { ...options, isSecret: await secretsAt(secrets) })
  for (const line of leftOutText(others)) output.note(line)
  if (files.length === 0) return output.note(`No file to upload in ${paths.join(', ')}: nothing was done.`)
  const locker = await session.locker()
  const encrypt = await encryption(session, locker, options)
  const client = await session.lockerClient(locker)
  const names = files.map(({ name }) => name)
  const stored = await storedUnder(client, locker, names, host.signal)
  if (encrypt) await warnOfPlaintext(session, client, locker, names)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  output.note(`${counted(files.length, 'file')}, ${bytesText(total)} → ${locker.name ?? locker.locker_id}`)
  const { report, end, count } = outcomeReporter(output, { isUpload: true })
  await output.withProgress('put', total, (progress) =>
    putAll({ session, client, locker, stored, type: options.type, encrypt }, files, (outcome, bytes) => {
      progress.add(bytes)
      if (outcome) report(outcome)
    }),
  )
  end('run the same command again: files that are already stored are skipped, and large ones resume')
  if (count('stored') > 0) await reportDeliveries(session, client, locker)
}

/** Files that were stored before encryption are still there under their plain names. */
async function warnOfPlaintext(session: Session, client: Client, locker: NamedLocker, names: readonly string[]) {
  const plain = await storedUnder(client, locker, names.map(plainName), session.host.signal)
  const [first] = plain.keys()
  if (first === undefined) return
  const which =
    plain.size === 1 ? `${shown(first)} is` : `${shown(first)} and ${counted(plain.size - 1, 'more file')} are`
  session.output.warn(`${which} also in the locker unencrypted: \`svc rm\` removes the unencrypted file`)
}

async function putStandardInput(session: Session, paths: readonly string[], options: PutOptions): Promise<void> {
  const { as: name, type } = options
  if (paths.length > 1 || name === undefined) throw new UsageError('- must be the only path, and needs --as NAME')
  const { output, host } = session
  const { signal } = host
  const filename = nameFor(name, options)
  const locker = await session.locker()
  const encrypt = await encryption(session, locker, options)
  const client = await session.lockerClient(locker)
  const before = await storedUnder(client, locker, [filename], signal)
  const input = streamSource(addAbortSignal(signal, host.stdin), null)
  const source = encrypt ? await encrypt(input, filename) : input
  const contentType = type ?? contentTypeOf(filename)
  const stored = await client.put(locker, filename, source, { contentType, signal })
  outcomeReporter(output, { isUpload: true }).report(storedOutcome(stored, before))
  await reportDeliveries(session, client, locker)
}
