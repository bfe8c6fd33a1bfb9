// The config folder of `svc`. It holds trusted keys and payments, so only the user may read or write it.

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { userFolder } from '@svc/sdk/user-folder'
import { Failure } from '../errors.ts'
import type { Environment } from '../host.ts'

const OWNER_ONLY = 0o700

export function configFolder(env: Environment): string {
  const folder = userFolder(env, 'XDG_CONFIG_HOME')
  if (folder !== null) return folder
  throw new Failure(
    'payments and keys cannot be stored: no home folder is set',
    'set HOME or XDG_CONFIG_HOME to a permanent folder',
  )
}

export async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY }).catch(({ message }: Error) => {
    throw new Failure(`svc cannot store anything: ${message}`, 'set XDG_CONFIG_HOME to another permanent folder')
  })
  const { mode } = await stat(folder)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) await chmod(folder, OWNER_ONLY)
}

/** Null if the file does not exist. */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (error instanceof SyntaxError) throw new Failure(`${path} is not JSON`, 'correct it, or move it away')
    throw error
  }
}

/** Writes atomically, through a temporary file. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await openFolder(dirname(path))
  const draft = `${path}.${randomUUID()}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
