// A small separate disk that can be filled up. It needs root on Linux and is unavailable elsewhere.

import { spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

const MEBIBYTE = 1_048_576
const SIZE = 768 * MEBIBYTE

export interface SmallDisk {
  folder: string
  /** Fills the disk to the last byte. */
  fill(): Promise<void>
  free(): Promise<void>
  unmount(): void
}

export function mountSmallDisk(folder: string): SmallDisk | null {
  mkdirSync(folder, { recursive: true })
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder], { stdio: 'ignore' })
  if (mounted.status !== 0) return null
  const ballast = join(folder, 'ballast')
  return {
    folder,
    async fill() {
      const { bavail, bsize } = statfsSync(folder)
      // Fill the disk in one step. A concurrent write makes that fail; the loop below then fills the rest.
      spawnSync('fallocate', ['-l', String(bavail * bsize), ballast], { stdio: 'ignore' })
      const file = await open(ballast, 'a')
      try {
        for (let length = MEBIBYTE; length >= 1; length /= 2) while (await fits(file.write(Buffer.alloc(length))));
      } finally {
        await file.close()
      }
    },
    free: () => rm(ballast, { force: true }),
    // Unmount lazily, because a process that was just killed may still have a file open.
    unmount: () => void spawnSync('umount', ['-l', folder]),
  }
}

async function fits(writing: Promise<{ bytesWritten: number }>): Promise<boolean> {
  try {
    return (await writing).bytesWritten > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
