// A journal in a folder. An entry is a folder of numbered versions. A change links the next number, which the file
// system allows only one process. There are no locks that a crash could leave behind. Versions are never removed: an
// entry changes only a few times, and a slow process could take a freed number.

import { hash, randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Journal } from '../journal.ts'

interface Version {
  number: number
  value: string | null
}

export function fileJournal(folder: string): Journal {
  return {
    get: async (key) => (await newest(join(folder, nameOf(key)))).value,
    async put(key, value, expected) {
      const entry = join(folder, nameOf(key))
      const before = await newest(entry)
      if (before.value !== expected) return false
      if (before.number === 0) await makeFolder(folder, entry)
      return writeOnce(entry, String(before.number + 1), JSON.stringify({ key, value }))
    },
  }
}

/** Keys may contain characters that filenames cannot. */
function nameOf(key: string): string {
  return hash('sha256', key).slice(0, 32)
}

async function newest(entry: string): Promise<Version> {
  const names = await readdir(entry).catch(noneIfMissing)
  const number = Math.max(0, ...names.map(Number).filter(Number.isInteger))
  if (number === 0) return { number, value: null }
  return { number, value: JSON.parse(await readFile(join(entry, String(number)), 'utf8')).value }
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}

async function makeFolder(folder: string, entry: string): Promise<void> {
  await mkdir(entry, { recursive: true, mode: 0o700 })
  await syncFolder(folder)
}

/** Gives the file its name once it is complete and on disk. False if the name is taken. */
async function writeOnce(folder: string, name: string, text: string): Promise<boolean> {
  const draft = join(folder, `draft-${randomUUID()}`)
  try {
    await writeDurably(draft, text)
    await link(draft, join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(folder)
  return true
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync folders, and need not.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
