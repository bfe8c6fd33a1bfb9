import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { InvalidFilename } from '../errors.ts'

/** Refuses a bad name before any request, so it cannot lead to another path. */
export function requireName(filename: string): void {
  const problem = filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
  if (problem) throw new InvalidFilename(`filename ${problem}: ${JSON.stringify(filename)}`)
}

/** The ending of encrypted files, by which people and tools know them. */
export const ENCRYPTED_ENDING = '.age'

/** The name of a file once it is decrypted. */
export function plainName(filename: string): string {
  return filename.endsWith(ENCRYPTED_ENDING) ? filename.slice(0, -ENCRYPTED_ENDING.length) : filename
}
