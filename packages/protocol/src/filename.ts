// The rules for filenames (FILE-03..06, AMB-22). Names are compared without normalization or case folding.

import { utf8 } from './bytes.ts'

/** Names with this prefix may begin with a dot. */
export const DEFAULT_SYSTEM_PREFIX = '.svc/'

const MAX_BYTES = 512

/** Null for an accepted name, else the problem, worded to follow "filename: ". */
export function filenameProblem(name: string, systemPrefix: string): string | null {
  if (name === '') return 'must not be empty'
  if (!name.isWellFormed()) return 'must not contain a lone surrogate'
  // A name has at least as many bytes as code units, so a very long one need not be encoded.
  if (name.length > MAX_BYTES || utf8(name).length > MAX_BYTES) return `must be at most ${MAX_BYTES} bytes of UTF-8`
  if (/\p{Cc}/u.test(name)) return 'must not contain control characters'
  const refused = [':', '\\', '..'].find((text) => name.includes(text))
  if (refused) return `must not contain '${refused}'`
  return pathProblem(name, name.startsWith(systemPrefix) ? systemPrefix : '')
}

function pathProblem(name: string, prefix: string): string | null {
  const path = name.slice(prefix.length)
  const segments = path.split('/')
  if (segments.includes('')) return "must not begin or end with '/' or contain '//'"
  if (path.startsWith('.')) return prefix ? `must not have '.' right after '${prefix}'` : "must not begin with '.'"
  return segments.includes('.') ? "must not have a part that is only '.'" : null
}
