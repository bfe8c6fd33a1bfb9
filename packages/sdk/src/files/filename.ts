import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { InvalidFilename } from '../errors.ts'

/** Refuses a bad name before any request, so it cannot lead to another path. */
export function requireName(filename: string): void {
  const problem = filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
  if (problem) throw new InvalidFilename(`filename ${problem}: ${JSON.stringify(filename)}`)
}
