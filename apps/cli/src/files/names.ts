// The rules for file names, as text for users.

import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'

export const NAME_RULES =
  "names have no ':', '\\' or '..', do not begin with '.' or '/', and have at most 512 bytes; '/' separates folders"

/** The problem with a name, and a similar valid name; null for a valid name. */
export function nameProblem(name: string): string | null {
  const problem = filenameProblem(name, DEFAULT_SYSTEM_PREFIX)
  if (problem === null) return null
  const other = similarName(name)
  const isGood = filenameProblem(other, DEFAULT_SYSTEM_PREFIX) === null
  return `${JSON.stringify(name)} ${problem}${isGood ? ` (${JSON.stringify(other)} is allowed)` : ''}`
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
