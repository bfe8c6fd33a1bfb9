// Patterns for names, by the rules of .gitignore: for `put`, `sync` and `verify`.

import { readFile } from 'node:fs/promises'
import type { Option } from 'commander'
import { UsageError } from '../errors.ts'
import { repeatedOption } from '../options.ts'

export interface PatternOptions {
  include?: readonly string[]
  exclude?: readonly string[]
  /** Files with patterns to exclude, one per line. */
  excludeFrom?: readonly string[]
}

/** Whether to leave out a name. A name that ends with a slash is a folder with everything below it. */
export type IsExcluded = (name: string) => boolean

export async function excluderOf({
  include = [],
  exclude = [],
  excludeFrom = [],
}: PatternOptions): Promise<IsExcluded> {
  const lines = await Promise.all(excludeFrom.map(readPatterns))
  const isLeftOut = matcher([...lines.flat(), ...exclude])
  const isWanted = include.length > 0 ? matcher(include) : () => true
  return (name) => isLeftOut(name) || !(name.endsWith('/') || isWanted(name))
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

async function readPatterns(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new UsageError(`--exclude-from ${file}: ${code === 'ENOENT' ? 'the file does not exist' : message}`)
  })
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

interface Rule {
  isNegated: boolean
  isForFolders: boolean
  regex: RegExp
}

/**
 * The last pattern that matches decides; `!` negates a pattern. It cannot re-include a file of an excluded folder: as
 * in git, such files are never matched.
 */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const rules = patterns.flatMap((pattern) => ruleOf(pattern) ?? [])
  const decide = (path: string, isFolder: boolean): boolean => {
    const last = rules.findLast(({ isForFolders, regex }) => (isFolder || !isForFolders) && regex.test(path))
    return last !== undefined && !last.isNegated
  }
  return (name) => {
    const isFolder = name.endsWith('/')
    const parts = (isFolder ? name.slice(0, -1) : name).split('/')
    return parts.some((_, i) => decide(parts.slice(0, i + 1).join('/'), isFolder || i < parts.length - 1))
  }
}

function ruleOf(pattern: string): Rule | null {
  const isNegated = pattern.startsWith('!')
  // Spaces at the end do not count unless they are escaped.
  const text = pattern.slice(isNegated ? 1 : 0).replace(/(?<!\\) +$/, '')
  const isForFolders = text.endsWith('/')
  const glob = text.replace(/\/+$/, '')
  if (glob === '') return null
  // A slash at the beginning or in the middle anchors the pattern at the top; other patterns match at any depth.
  const isAnchored = glob.includes('/')
  const source = `^${isAnchored ? '' : '(?:.*/)?'}${regexOf(glob.replace(/^\//, ''))}$`
  try {
    return { isNegated, isForFolders, regex: new RegExp(source, 'su') }
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
