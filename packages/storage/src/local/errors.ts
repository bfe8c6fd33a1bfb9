import { ProviderError } from '../provider.ts'

/** EFBIG: more than the file system, or the limit of this process, allows in one file. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Turns errors of system calls into errors of the provider. */
export async function onDisk<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === null) throw error
    throw new ProviderError(isDiskFull(error) ? 'full' : 'unavailable', error)
  }
}

export function isDiskFull(error: unknown): boolean {
  return FULL.includes(codeOf(error) ?? '')
}

export async function nullIfMissing<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Null for anything but an error of a system call. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null
}
