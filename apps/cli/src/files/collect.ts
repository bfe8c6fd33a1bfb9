// Finds and names the files of a `put` before anything is sent.

import type { Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { type Found, type FoundFile, walk } from '@svc/sdk/node'
import { UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { NAME_RULES, nameProblem } from './names.ts'
import { excluderOf, IGNORE_FILE, isSystemFile, type PatternOptions, systemFilesText } from './patterns.ts'

export interface CollectOptions extends PatternOptions {
  /** A folder to prepend to each name. */
  to?: string
  /** The name to use instead; for one file only. */
  as?: string
  follow?: boolean
  /** The ending of every name in the locker. */
  ending?: string
  isSecret?: IsSecret
}

export interface Collected {
  files: FoundFile[]
  leftOut: { name: string; leftOut: string }[]
  /** The number of skipped system files, which `leftOut` does not list. */
  systemFiles: number
}

/** Names files in folders relative to the folder, single files by their own name. */
export async function collect(paths: readonly string[], options: CollectOptions): Promise<Collected> {
  const files: FoundFile[] = []
  const leftOut: Collected['leftOut'] = []
  let systemFiles = 0
  for (const path of paths) {
    for await (const found of foundAt(path, options)) {
      if ('leftOut' in found && found.leftOut === 'excluded' && isSystemFile(found.name)) systemFiles++
      else if ('leftOut' in found) leftOut.push(found)
      else files.push({ ...found, name: nameFor(found.name, options) })
    }
  }
  if (options.as !== undefined && files.length !== 1) throw new UsageError('--as needs exactly one file')
  requireGoodNames(files)
  return { files, leftOut: leftOut.filter(({ name }) => name !== IGNORE_FILE), systemFiles }
}

async function* foundAt(path: string, options: CollectOptions): AsyncGenerator<Found> {
  const { follow = false, isSecret } = options
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(pathProblem(path, error))
  })
  if (isSecret && (await isInSecret(path, isSecret)))
    throw new UsageError(`${path} contains your keys: it is not uploaded`)
  if (facts.isDirectory())
    yield* walk(path, { follow, isExcluded: await excluderOf(options, path), ...(isSecret && { isSecret }) })
  else if (facts.isFile()) yield { name: basename(resolve(path)), path, size: facts.size }
  else throw new UsageError(`${path} is neither a file nor a folder`)
}

/** Whether the path is secret, or in a secret folder. */
async function isInSecret(path: string, isSecret: IsSecret): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    if (isSecret(await stat(at))) return true
    if (dirname(at) === at) return false
  }
}

/** The name in the locker. The ending is added unless the given name has it. */
export function nameFor(name: string, { to, as, ending = '' }: CollectOptions): string {
  const own = as?.endsWith(ending) ? as : (as ?? name) + ending
  return to === undefined ? own : `${to.replace(/\/+$/, '')}/${own}`
}

const LEFT_OUT_SHOWN = 20

/** What was left out, as lines for users. */
export function leftOutText({ leftOut, systemFiles }: Omit<Collected, 'files'>): string[] {
  const some = leftOut.slice(0, LEFT_OUT_SHOWN).map(({ name, leftOut: why }) => `left out: ${shown(name)} (${why})`)
  const rest = leftOut.length - some.length
  return [
    ...some,
    ...(rest > 0 ? [`left out: ${rest} more`] : []),
    ...(systemFiles > 0 ? [systemFilesText(systemFiles)] : []),
  ]
}

const NAMES_SHOWN = 5

/** Rejects names that a gateway would reject, all in one error. */
function requireGoodNames(files: readonly FoundFile[]): void {
  const problems: string[] = []
  const paths = new Map<string, string>()
  for (const { name, path } of files) {
    const problem = nameProblem(name)
    const other = paths.get(name)
    paths.set(name, path)
    if (problem) problems.push(problem)
    else if (other !== undefined)
      problems.push(`${JSON.stringify(name)} would be the name of both ${other} and ${path}`)
  }
  if (problems.length === 0) return
  const some = problems.slice(0, NAMES_SHOWN).join('; ')
  const more = problems.length > NAMES_SHOWN ? `; and ${problems.length - NAMES_SHOWN} more` : ''
  throw new UsageError(
    `${counted(problems.length, 'file name')} ${problems.length === 1 ? 'is' : 'are'} not allowed: ${some}${more}`,
    `nothing was uploaded: ${NAME_RULES}. Rename them, or leave them out: --exclude '.*' or that line in .svcignore leaves out all names that begin with a dot`,
  )
}

/** Whether a file or folder on disk is one of the secret ones, by any path. */
export type IsSecret = (facts: Stats) => boolean

export async function secretsAt(paths: readonly string[]): Promise<IsSecret> {
  const facts = await Promise.all(paths.map((path) => stat(path).catch(() => null)))
  const secrets = new Set(facts.flatMap((one) => (one ? [identityOf(one)] : [])))
  return (one) => secrets.has(identityOf(one))
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`
}

function pathProblem(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `${path} does not exist`
  return code === 'EACCES' || code === 'EPERM' ? `${path} cannot be read: you have no permission` : message
}
