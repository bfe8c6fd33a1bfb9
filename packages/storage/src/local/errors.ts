import { open } from 'node:fs/promises'
import { ProviderError } from '../provider.ts'

/** EFBIG: more than the file system, or the limit set for this process, allows in one file. */
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Says whose fault it is when work with the disk fails. */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === null) throw error
    throw new ProviderError(isNoRoom(error) ? 'full' : 'unavailable', error)
  }
}

export function isNoRoom(error: unknown): boolean {
  return NO_ROOM.includes(codeOf(error) ?? '')
}

export async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Null for what is not an error of a system call. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null
}

/** Makes new and removed names in a folder survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
