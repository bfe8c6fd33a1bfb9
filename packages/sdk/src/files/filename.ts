import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'

/** Found out here, a bad name costs no request, and cannot become another path on its way. */
export function requireName(filename: string): void {
  const problem = filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
  if (problem) throw new RangeError(`filename ${problem}: ${JSON.stringify(filename)}`)
}
