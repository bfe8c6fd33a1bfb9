import { addAbortSignal } from 'node:stream'
import { contentTypeOf, streamSource } from '@svc/sdk'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import { keyFiles } from '../setup/wallet.ts'
import { type Collected, type CollectOptions, collect, secretsAt } from './collect.ts'
import { reportDeliveries } from './deliveries.ts'
import { outcomeReporter } from './outcomes.ts'
import { excludeOptions, includeOption } from './patterns.ts'
import { putAll, storedOutcome } from './put-all.ts'
import { storedUnder } from './unchanged.ts'

interface PutOptions extends CollectOptions {
  type?: string
}

export function add(program: Command, open: Open): void {
  const command = program
    .command('put')
    .description('upload files and the contents of folders to the locker')
    .argument('<path...>', 'files and folders; - is the standard input')
    .option('--to <folder>', 'folder of the locker to put them in')
    .option('--as <name>', 'name in the locker; for one file')
    .option('--type <type>', 'content type, for example image/png; by the name unless given')
    .option('--follow', 'follow symbolic links')
    .addHelpText(
      'after',
      `
Names are relative to the folder that is given: \`svc put photos\` puts photos/a.jpg as a.jpg, and
\`svc get -o photos\` brings it back. Unchanged files are skipped, files of the same name are
replaced, and an interrupted upload of a large file resumes where it stopped.`,
    )
    .action(async (paths: string[], options: PutOptions, command: Command) => put(await open(command), paths, options))
  for (const option of [includeOption(), ...excludeOptions()]) command.addOption(option)
}

async function put(session: Session, paths: readonly string[], options: PutOptions): Promise<void> {
  if (paths.includes('-')) return putStandardInput(session, paths, options)
  const { output, world } = session
  const isSecret = await secretsAt([session.folder, ...keyFiles(world.env, session.settings.wallet)])
  const { files, leftOut } = await collect(paths, { ...options, isSecret })
  for (const line of leftOutText(leftOut)) output.note(line)
  if (files.length === 0) return output.note(`There is no file to upload in ${paths.join(', ')}: nothing was done.`)
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const names = files.map(({ name }) => name)
  const stored = await storedUnder(client, locker, names, world.signal)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  output.note(`${counted(files.length, 'file')}, ${bytesText(total)} → ${locker.name ?? locker.locker_id}`)
  const { report, end, count } = outcomeReporter(output)
  await output.withProgress('put', total, (progress) =>
    putAll({ session, client, locker, stored, type: options.type }, files, (outcome, bytes) => {
      progress.add(bytes)
      if (outcome) report(outcome)
    }),
  )
  end('run the same command again: files that are already stored are skipped, and large ones resume')
  if (count('stored') > 0) await reportDeliveries(session, client, locker)
}

const LEFT_OUT_SHOWN = 20

export function leftOutText(leftOut: Collected['leftOut']): string[] {
  const some = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ name, leftOut: why }) => `left out: ${shown(name)} (${why})`)
  return leftOut.length > LEFT_OUT_SHOWN ? [...some, `left out: ${leftOut.length - LEFT_OUT_SHOWN} more`] : some
}

async function putStandardInput(session: Session, paths: readonly string[], options: PutOptions): Promise<void> {
  const { as: name, to, type } = options
  if (paths.length > 1 || name === undefined) throw new UsageError('- stands alone, and needs --as NAME')
  const { output, world } = session
  const { signal } = world
  const filename = to === undefined ? name : `${to.replace(/\/+$/, '')}/${name}`
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const before = await storedUnder(client, locker, [filename], signal)
  const source = streamSource(addAbortSignal(signal, world.stdin), null)
  const contentType = type ?? contentTypeOf(name)
  const stored = await client.put(locker, filename, source, { contentType, signal })
  outcomeReporter(output).report(storedOutcome(stored, before))
  await reportDeliveries(session, client, locker)
}
