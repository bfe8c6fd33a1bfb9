// Which names a locker can have, for people.

import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'

export const NAME_RULES =
  "names have no ':', '\\' or '..', do not begin with '.' or '/', and have at most 512 bytes; '/' separates folders"

/** What is wrong with a name, and one like it that would be kept; null if nothing is wrong. */
export function nameProblem(name: string): string | null {
  const problem = filenameProblem(name, DEFAULT_SYSTEM_PREFIX)
  if (problem === null) return null
  const other = similarName(name)
  const isGood = filenameProblem(other, DEFAULT_SYSTEM_PREFIX) === null
  return `${JSON.stringify(name)} ${problem}${isGood ? ` (${JSON.stringify(other)} would do)` : ''}`
}

function similarName(name: string): string {
  return name
    .toWellFormed()
    .replace(/\.\./g, '_')
    .replace(/[:\\\p{Cc}\uFFFD]/gu, '_')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
    .replace(/^\./, '_')
}
