import type { ManifestEntry } from '@svc/api/file-entries'
import type { Manifest } from '@svc/api/files'
import { JsonStream } from '@svc/service/http/answer'
import type { Context } from '../../context.ts'
import type { Db, Locker } from '../../db/schema.ts'
import { findLockerOf } from '../store.ts'
import {
  cutPage,
  type FilePage,
  firstPageOf,
  isLong,
  jsonItems,
  nextCursor,
  type PageQuery,
  pagesFrom,
} from './file-pages.ts'
import { fileEntry } from './list-files.ts'
import { type ListedFile, type ManifestFacts, pageOfManifest } from './store.ts'

/**
 * A single page is a consistent state of the locker. Several pages end with a flag that shows whether the manifest
 * changed in between.
 */
export async function readManifest(
  { database: { db } }: Context,
  locker: Locker,
  query: PageQuery,
): Promise<Manifest | JsonStream<Manifest>> {
  const { after, limit } = firstPageOf(query)
  const { facts, files } = await pageOfManifest(db, locker.locker_id, after, limit + 1)
  const page = cutPage(files, limit)
  if (isLong(query, page)) return new JsonStream(longManifest(db, locker, facts, page))
  return { ...manifestHead(locker, facts), files: page.files.map(entryOf(locker)), ...nextCursor(page) }
}

async function* longManifest(db: Db, locker: Locker, facts: ManifestFacts, first: FilePage): AsyncGenerator<string> {
  const { locker_id } = locker
  async function* entries() {
    for await (const files of pagesFrom(db, locker_id, first)) yield files.map(entryOf(locker))
  }
  yield `${JSON.stringify(manifestHead(locker, facts)).slice(0, -1)},"files":[`
  yield* jsonItems(entries())
  const after = await findLockerOf(db, { locker_id })
  yield `],"changed_while_reading":${after?.manifest_version !== facts.manifest_version}}`
}

function manifestHead({ locker_id, receipt_id, created_at }: Locker, facts: ManifestFacts) {
  const { manifest_version, manifest_changed_at, file_count, total_bytes } = facts
  const updated_at = manifest_changed_at ?? created_at
  return { locker_id, receipt_id, manifest_version, updated_at, file_count, total_bytes }
}

function entryOf({ provider }: Locker): (file: ListedFile) => ManifestEntry {
  return (file) => ({ provider_ref: null, ...fileEntry(file), provider })
}
