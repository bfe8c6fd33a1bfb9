import { mkdir, stat } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { bytesText, counted } from '../output/quantities.ts'
import type { Open, Session } from '../session.ts'
import { type Outcome, outcomeReporter } from './outcomes.ts'
import { excludeOptions, includeOption } from './patterns.ts'
import { downloadPlan, type SyncOptions, type SyncPlan, uploadPlan } from './sync-plans.ts'

/** A folder of a locker: `photos:2026`, or `:2026` in the current locker. */
interface RemoteFolder {
  locker: string | undefined
  /** Empty, or ends with a slash. */
  prefix: string
}

type Side = { local: string } | { remote: RemoteFolder }

export function add(program: Command, open: Open): void {
  const command = program
    .command('sync')
    .description('make a folder of the locker equal to a folder on disk, or the reverse')
    .argument('<from>', 'a folder on disk or in a locker: `:`, `:2026`, `photos:2026`', side)
    .argument('<to>', 'the other folder', side)
    .option('--delete', 'delete files that are not in <from>; asks before it deletes more than half')
    .option('-n, --dry-run', 'only show what would be done')
    .addHelpText(
      'after',
      `
  $ svc sync ./photos :                upload what is new or different
  $ svc sync ./photos :2026 --delete   the same into a folder, and delete what ./photos lacks
  $ svc sync photos: ./photos          download the locker that is called photos

Files are compared by size and hash, never by time; files that differ are replaced. Patterns are
those of .gitignore, also in a file .svcignore in the folder on disk. What is left out is neither
sent nor removed; symbolic links and system files like .DS_Store are left out.`,
    )
    .action(async (from: Side, to: Side, options: SyncOptions, command: Command) =>
      sync(await open(command), from, to, options),
    )
  for (const option of [includeOption(), ...excludeOptions()]) command.addOption(option)
}

/** A path that has a colon can be given as `./a:b`. */
function side(text: string): Side {
  const [, name, folder] = /^([^/\\:.][^/\\:]*|):(.*)$/s.exec(text) ?? []
  const isDrive = process.platform === 'win32' && name?.length === 1
  if (name === undefined || folder === undefined || isDrive) return { local: text }
  if (folder.startsWith('/')) throw new InvalidArgumentError('Folders of a locker do not begin with a slash.')
  const bare = folder.replace(/\/+$/, '')
  return { remote: { locker: name === '' ? undefined : name, prefix: bare === '' ? '' : `${bare}/` } }
}

async function sync(session: Session, from: Side, to: Side, options: SyncOptions): Promise<void> {
  if ('local' in from && 'remote' in to) {
    await requireFolder(from.local)
    const locker = await session.locker(to.remote.locker)
    return carryOut(session, await uploadPlan(session, locker, from.local, to.remote.prefix, options), options)
  }
  if ('remote' in from && 'local' in to) {
    const locker = await session.locker(from.remote.locker)
    await requireNoFile(to.local)
    if (!options.dryRun) await mkdir(to.local, { recursive: true })
    return carryOut(session, await downloadPlan(session, locker, from.remote.prefix, to.local, options), options)
  }
  throw new UsageError(
    'give one folder on disk and one in a locker',
    'a colon marks the locker: `svc sync ./photos :` uploads, `svc sync : ./photos` downloads',
  )
}

async function requireFolder(path: string): Promise<void> {
  const facts = await stat(path).catch(() => null)
  if (facts?.isDirectory()) return
  throw new UsageError(facts ? `${path} is not a folder` : `${path} does not exist`, 'nothing was changed')
}

async function requireNoFile(path: string): Promise<void> {
  const facts = await stat(path).catch(() => null)
  if (facts && !facts.isDirectory()) throw new UsageError(`${path} is not a folder`, 'nothing was changed')
}

async function carryOut(session: Session, plan: SyncPlan, { dryRun = false }: SyncOptions): Promise<void> {
  const { output, host } = session
  const { title, files, bytes, deletions, transfer, remove, afterwards } = plan
  output.note(`${counted(files, 'file')}, ${bytesText(bytes)} → ${title}`)
  if (!dryRun) await requireConsent(session, plan)
  const { report, end, count } = outcomeReporter(output, { isDryRun: dryRun })
  await output.withProgress('sync', bytes, (progress) => transfer(progress, report, dryRun))
  // A file that could not be copied may exist only in the target.
  const isSafe = count('failed') === 0
  for (let start = 0; isSafe && start < deletions.length; start += DELETED_AT_ONCE) {
    host.signal.throwIfAborted()
    const some = deletions.slice(start, start + DELETED_AT_ONCE)
    for (const outcome of await Promise.all(some.map((filename) => deleted(filename, remove, dryRun)))) report(outcome)
  }
  const kept = isSafe || deletions.length === 0 ? '' : '; nothing was deleted, because files failed'
  end(`run the same command again: equal files are skipped${kept}`)
  if (!dryRun && count('stored') > 0) await afterwards?.()
}

const DELETED_AT_ONCE = 4

async function deleted(filename: string, remove: SyncPlan['remove'], isDryRun: boolean): Promise<Outcome> {
  try {
    if (!isDryRun) await remove(filename)
    return { filename, status: 'deleted' }
  } catch (error) {
    return { filename, status: 'failed', error }
  }
}

/** Asks before many deletions: a wrong or empty folder, or a gateway that lost files, must not empty the other side. */
async function requireConsent({ confirm }: Session, { title, deletions, filesThere }: SyncPlan): Promise<void> {
  if (2 * deletions.length <= filesThere) return
  const what = deletions.length === filesThere ? 'all' : `${deletions.length} of`
  if (!(await confirm(`Delete ${what} ${counted(filesThere, 'file')} in ${title}?`)))
    throw new Failure('nothing was changed')
}
