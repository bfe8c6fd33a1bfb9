import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { InvalidFilename } from '../errors.ts'

/** Refuses an invalid name before any request, so that it cannot lead to another path. */
export function requireName(filename: string): void {
  const problem = filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
  if (problem) throw new InvalidFilename(`filename ${problem}: ${JSON.stringify(filename)}`)
}

/** The extension of encrypted files, by which people and tools recognize them. */
export const ENCRYPTED_ENDING = '.age'

/** The name of a file after decryption. */
export function plainName(filename: string): string {
  return filename.endsWith(ENCRYPTED_ENDING) ? filename.slice(0, -ENCRYPTED_ENDING.length) : filename
}
