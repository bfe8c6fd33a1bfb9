// Patterns for names, by the rules of .gitignore: for `put`, `sync` and `verify`.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Option } from 'commander'
import { UsageError } from '../errors.ts'
import { repeatedOption } from '../options.ts'
import { counted } from '../output/quantities.ts'

export interface PatternOptions {
  include?: readonly string[]
  exclude?: readonly string[]
  /** Files with patterns to exclude, one per line. */
  excludeFrom?: readonly string[]
}

/** Whether to leave out a name. A name that ends with a slash is a folder with everything below it. */
export type IsExcluded = (name: string) => boolean

/** Files that operating systems leave in folders. */
const SYSTEM_FILES = ['.DS_Store', '._*', '[Tt]humbs.db', '[Dd]esktop.ini']

/** The file of a folder with patterns to exclude. It is never uploaded itself. */
export const IGNORE_FILE = '.svcignore'

/** `folder` is the folder whose `.svcignore` counts; null if there is none. A later pattern can re-include a name. */
export async function excluderOf(
  { include = [], exclude = [], excludeFrom = [] }: PatternOptions,
  folder: string | null = null,
): Promise<IsExcluded> {
  const given = await Promise.all(excludeFrom.map((file) => readPatterns(file, `--exclude-from ${file}`)))
  const own = folder === null ? [] : await readIgnoreFile(folder)
  const isLeftOut = decider([
    ...systemFileRules(),
    ...[...own, ...given.flat(), ...exclude, `/${IGNORE_FILE}`].flatMap(rulesOf),
  ])
  const isWanted = include.length > 0 ? matcher(include) : () => true
  return (name) => isLeftOut(name) || !(name.endsWith('/') || isWanted(name))
}

/** Whether the name is that of a file that an operating system left in the folder. */
export function isSystemFile(name: string): boolean {
  return !name.endsWith('/') && decider(systemFileRules())(name)
}

/** Folders of these names are not system files. */
function systemFileRules(): Rule[] {
  return SYSTEM_FILES.flatMap(rulesOf).map((rule) => ({ ...rule, isFor: 'files' }))
}

/** `3 system files skipped (.DS_Store, Thumbs.db, desktop.ini, ._*)` */
export function systemFilesText(count: number): string {
  return `${counted(count, 'system file')} skipped (.DS_Store, Thumbs.db, desktop.ini, ._*)`
}

export function excludeOptions(): Option[] {
  return [
    repeatedOption('--exclude <pattern>', "leave out files and folders like this: '*.tmp', 'build/'"),
    repeatedOption('--exclude-from <file>', 'leave out the patterns in this file, which has the format of .gitignore'),
  ]
}

export function includeOption(): Option {
  return repeatedOption('--include <pattern>', 'only files and folders like this')
}

async function readPatterns(file: string, source: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new UsageError(`${source}: ${code === 'ENOENT' ? 'the file does not exist' : message}`)
  })
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

async function readIgnoreFile(folder: string): Promise<string[]> {
  const file = join(folder, IGNORE_FILE)
  const isThere = (await stat(file).catch(() => null)) !== null
  return isThere ? readPatterns(file, file) : []
}

interface Rule {
  isNegated: boolean
  isFor: 'any' | 'files' | 'folders'
  regex: RegExp
}

/**
 * The last pattern that matches decides; `!` negates a pattern. It cannot re-include a file of an excluded folder: as
 * in git, such files are never matched.
 */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  return decider(patterns.flatMap(rulesOf))
}

function decider(rules: readonly Rule[]): (name: string) => boolean {
  const decide = (path: string, isFolder: boolean): boolean => {
    const other = isFolder ? 'files' : 'folders'
    const last = rules.findLast(({ isFor, regex }) => isFor !== other && regex.test(path))
    return last !== undefined && !last.isNegated
  }
  return (name) => {
    const isFolder = name.endsWith('/')
    const parts = (isFolder ? name.slice(0, -1) : name).split('/')
    return parts.some((_, i) => decide(parts.slice(0, i + 1).join('/'), isFolder || i < parts.length - 1))
  }
}

function rulesOf(pattern: string): Rule[] {
  const isNegated = pattern.startsWith('!')
  // Spaces at the end do not count unless they are escaped.
  const text = pattern.slice(isNegated ? 1 : 0).replace(/(?<!\\) +$/, '')
  const glob = text.replace(/\/+$/, '')
  if (glob === '') return []
  // A slash at the beginning or in the middle anchors the pattern at the top; other patterns match at any depth.
  const isAnchored = glob.includes('/')
  const source = `^${isAnchored ? '' : '(?:.*/)?'}${regexOf(glob.replace(/^\//, ''))}$`
  try {
    return [{ isNegated, isFor: text.endsWith('/') ? 'folders' : 'any', regex: new RegExp(source, 'su') }]
  } catch {
    throw new UsageError(
      `${JSON.stringify(pattern)} is not a pattern`,
      "for example '*.tmp', 'build/' or 'docs/**/*.pdf'",
    )
  }
}

const TOKENS = /^\*\*\/|\/\*\*\/|\/\*\*$|\*+|\?|\[(?<not>[!^]?)(?<set>\]?[^\]/]*)\]|\\(?<escaped>.)|./gsu

function regexOf(glob: string): string {
  return glob.replace(TOKENS, (token, ...rest) => {
    const { not, set, escaped } = rest.at(-1) as Record<'not' | 'set' | 'escaped', string | undefined>
    if (set !== undefined) return `[${not ? '^/' : ''}${set.replace(/[\\\][]/g, '\\$&')}]`
    if (escaped !== undefined) return literal(escaped)
    switch (token) {
      case '**/':
        return '(?:.*/)?'
      case '/**/':
        return '/(?:.*/)?'
      case '/**':
        return '/.*'
      case '?':
        return '[^/]'
      default:
        return token.startsWith('*') ? '[^/]*' : literal(token)
    }
  })
}

function literal(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&')
}
