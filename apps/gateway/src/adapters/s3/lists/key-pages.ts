// Pages of the keys of a bucket: files that have bytes, and folders. The cost of a page does not depend on its position
// or on the number of keys behind a common prefix.

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
  /** Empty for no delimiter. */
  delimiter: string
  /** Only keys and common prefixes after this text. */
  after: string | null
  limit: number
}

export interface ListedKey {
  key: string
  size: number
  etag: string
  /** ISO 8601 in UTC; null for files uploaded to a release up to 1.0.0. */
  uploadedAt: string | null
  hasChecksum: boolean
}

export interface KeyPage {
  /** Both in code-point order. */
  keys: ListedKey[]
  prefixes: string[]
  /** The key or common prefix after which the next page begins; null at the end. */
  next: string | null
}

/** `disconnected`: the client has disconnected. */
export async function findKeys(db: Db, lockerId: string, query: KeyQuery, disconnected: AbortSignal): Promise<KeyPage> {
  if (query.limit === 0) return { keys: [], prefixes: [], next: null }
  return (query.delimiter === '' ? wholePage : foldedPage)(db, lockerId, query, disconnected)
}

/** A page after a common prefix begins after all keys with that prefix. */
function rangeOf({ prefix, delimiter, after }: KeyQuery): NameRange {
  const upTo = topOf(prefix)
  if (after === null || compareCodePoints(after, prefix) < 0) return { from: prefix, upTo }
  return { from: delimiter === '' ? afterName(after) : afterEntry(after, { prefix, delimiter }), upTo }
}

async function wholePage(db: Db, lockerId: string, query: KeyQuery, disconnected: AbortSignal): Promise<KeyPage> {
  const range = rangeOf(query)
  const most = query.limit + 1
  const [files, folders] = await Promise.all([
    storedFiles(db, lockerId, range, most, disconnected),
    foldersIn(db, lockerId, range, most),
  ])
  const all = inOrder(files.map(listedKey), folders.map(asFile).map(listedKey))
  const keys = all.slice(0, query.limit)
  return { keys, prefixes: [], next: all.length > keys.length ? (keys.at(-1) as ListedKey).key : null }
}

async function foldedPage(db: Db, lockerId: string, query: KeyQuery, disconnected: AbortSignal): Promise<KeyPage> {
  const { limit } = query
  const range = rangeOf(query)
  const [files, folders] = await Promise.all([
    storedEntries(db, lockerId, range, query, limit + 1, disconnected),
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

/** Omits keys that were deleted in the meantime. */
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

/** Both lists are sorted. Most lockers have no folders. */
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
    // Releases up to 1.0.0 recorded no size for unconfirmed uploads.
    size: size_bytes ?? object_bytes ?? 0,
    etag: etagOf(file),
    uploadedAt: uploaded_at,
    hasChecksum: content_hash !== null,
  }
}
