// The keys of a bucket, a page at a time: files that have bytes, and folders. A page costs the same wherever it is and
// however many keys a common prefix stands for.

import { compareCodePoints } from '@svc/protocol/order'
import type { Db } from '../../../db/schema.ts'
import type { StoredFile } from '../../../files/lists/store.ts'
import { storedEntries, storedFiles } from '../../../files/lists/stored-files.ts'
import { afterEntry, afterName, entryOf, type NameRange, topOf } from '../../../files/lists/walk-names.ts'
import { findFiles } from '../../../files/store.ts'
import { etagOf } from '../etags.ts'
import { asFile, isFolderKey } from '../folders/folders.ts'
import { findFolders, foldersIn, walkFolders } from '../folders/store.ts'

export interface KeyQuery {
  prefix: string
  /** Empty for none. */
  delimiter: string
  /** Only keys and common prefixes above this text. */
  after: string | null
  limit: number
}

export interface ListedKey {
  key: string
  size: number
  etag: string
  /** ISO 8601, in UTC; null for what a release up to 1.0.0 took. */
  uploadedAt: string | null
  hasChecksum: boolean
}

export interface KeyPage {
  /** Both in code-point order. */
  keys: ListedKey[]
  prefixes: string[]
  /** The key or common prefix that the next page is after; null at the end. */
  next: string | null
}

/** `hangUp`: nobody waits for the answer any more. */
export async function findKeys(db: Db, lockerId: string, query: KeyQuery, hangUp: AbortSignal): Promise<KeyPage> {
  if (query.limit === 0) return { keys: [], prefixes: [], next: null }
  return (query.delimiter === '' ? wholePage : foldedPage)(db, lockerId, query, hangUp)
}

/** A common prefix that the text begins with is not above it, so a page after it begins behind all of its keys. */
function rangeOf({ prefix, delimiter, after }: KeyQuery): NameRange {
  const upTo = topOf(prefix)
  if (after === null || compareCodePoints(after, prefix) < 0) return { from: prefix, upTo }
  return { from: delimiter === '' ? afterName(after) : afterEntry(after, { prefix, delimiter }), upTo }
}

async function wholePage(db: Db, lockerId: string, query: KeyQuery, hangUp: AbortSignal): Promise<KeyPage> {
  const range = rangeOf(query)
  const most = query.limit + 1
  const [files, folders] = await Promise.all([
    storedFiles(db, lockerId, range, most, hangUp),
    foldersIn(db, lockerId, range, most),
  ])
  const all = inOrder(files.map(listedKey), folders.map(asFile).map(listedKey))
  const keys = all.slice(0, query.limit)
  return { keys, prefixes: [], next: all.length > keys.length ? (keys.at(-1) as ListedKey).key : null }
}

async function foldedPage(db: Db, lockerId: string, query: KeyQuery, hangUp: AbortSignal): Promise<KeyPage> {
  const { limit } = query
  const range = rangeOf(query)
  const [files, folders] = await Promise.all([
    storedEntries(db, lockerId, range, query, limit + 1, hangUp),
    walkFolders(db, lockerId, range, query, limit + 1),
  ])
  const entries = [...new Set([...files, ...folders].map((name) => entryOf(name, query)))].sort(compareCodePoints)
  const page = entries.slice(0, limit)
  const isPrefix = (entry: string) => entry.includes(query.delimiter, query.prefix.length)
  return {
    keys: await keysNamed(
      db,
      lockerId,
      page.filter((entry) => !isPrefix(entry)),
    ),
    prefixes: page.filter(isPrefix),
    next: entries.length > limit ? (page.at(-1) as string) : null,
  }
}

/** What is deleted meanwhile is left out. */
async function keysNamed(db: Db, lockerId: string, names: readonly string[]): Promise<ListedKey[]> {
  const [files, folders] = await Promise.all([
    findFiles(
      db,
      lockerId,
      names.filter((name) => !isFolderKey(name)),
    ),
    findFolders(db, lockerId, names.filter(isFolderKey)),
  ])
  const stored = files.filter(({ object_id }) => object_id !== null)
  return sorted([...stored, ...folders.map(asFile)].map(listedKey))
}

/** Both are in order. Most lockers have no folders. */
function inOrder(files: ListedKey[], folders: readonly ListedKey[]): ListedKey[] {
  return folders.length === 0 ? files : sorted([...files, ...folders])
}

function sorted(keys: ListedKey[]): ListedKey[] {
  return keys.sort((a, b) => compareCodePoints(a.key, b.key))
}

function listedKey(file: StoredFile): ListedKey {
  const { filename: key, size_bytes, object_bytes, uploaded_at, content_hash } = file
  return {
    key,
    // Nobody has noted the size of what a release up to 1.0.0 took and nobody has confirmed.
    size: size_bytes ?? object_bytes ?? 0,
    etag: etagOf(file),
    uploadedAt: uploaded_at,
    hasChecksum: content_hash !== null,
  }
}
