// Pages of the uploads in progress. All uploads of a folder form one entry.

import { compareCodePoints } from '@svc/protocol/order'
import type { OpenUpload } from './store.ts'

export interface UploadQuery {
  prefix: string
  /** Empty for no delimiter. */
  delimiter: string
  /** The page begins after this key; empty for the first. */
  keyMarker: string
  /** Within that key, the page begins after this upload; empty to skip all uploads of the key. */
  uploadIdMarker: string
  limit: number
}

export interface UploadPage {
  uploads: OpenUpload[]
  prefixes: string[]
  /** Null at the end. */
  next: { key: string; uploadId: string } | null
}

/** Sorted by key, then by upload id. */
export function pageOfUploads(all: readonly OpenUpload[], query: UploadQuery): UploadPage {
  const page: UploadPage = { uploads: [], prefixes: [], next: null }
  let last: UploadPage['next'] = null
  for (const upload of all.filter(({ key }) => key.startsWith(query.prefix)).sort(inOrder)) {
    const folder = folderOf(upload.key, query)
    if (folder === null ? isBefore(upload, query) : isFolderBefore(folder, query, page)) continue
    if (page.uploads.length + page.prefixes.length === query.limit) return { ...page, next: last }
    if (folder === null) page.uploads.push(upload)
    else page.prefixes.push(folder)
    last = folder === null ? { key: upload.key, uploadId: upload.uploadId } : { key: folder, uploadId: '' }
  }
  return page
}

function inOrder(a: OpenUpload, b: OpenUpload): number {
  return compareCodePoints(a.key, b.key) || compareCodePoints(a.uploadId, b.uploadId)
}

/** The key up to the first delimiter after the prefix; null when there is none. */
function folderOf(key: string, { prefix, delimiter }: UploadQuery): string | null {
  const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
  return at < 0 ? null : key.slice(0, at + delimiter.length)
}

function isBefore({ key, uploadId }: OpenUpload, { keyMarker, uploadIdMarker }: UploadQuery): boolean {
  if (keyMarker === '') return false
  const order = compareCodePoints(key, keyMarker)
  return order < 0 || (order === 0 && (uploadIdMarker === '' || compareCodePoints(uploadId, uploadIdMarker) <= 0))
}

function isFolderBefore(folder: string, { keyMarker }: UploadQuery, { prefixes }: UploadPage): boolean {
  return prefixes.at(-1) === folder || (keyMarker !== '' && compareCodePoints(folder, keyMarker) <= 0)
}
