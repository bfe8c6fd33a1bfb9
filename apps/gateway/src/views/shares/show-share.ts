import type { Query } from '@svc/api/endpoint'
import type { showShare as endpoint, SharedContent, SharedFile } from '@svc/api/shares'
import { isoSeconds } from '@svc/protocol/evidence'
import {
  type FoundShare,
  isFolder,
  nameOf,
  namesLocker,
  requireShare,
  requireSharedFile,
} from '../../adapters/http/shares/find-share.ts'
import { timeOrNull } from '../../adapters/http/shares/list-shares.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { findAttestation } from '../../evidence/store.ts'
import { cursorAfter, cutPage, firstPageOf } from '../../files/lists/file-pages.ts'
import { fileEntry } from '../../files/lists/list-files.ts'
import { filesIn, type ListedFile } from '../../files/lists/store.ts'
import { afterName, topOf } from '../../files/lists/walk-names.ts'
import { readEvidence } from '../evidence/read-evidence.ts'
import { isProven } from './proven.ts'

type ListQuery = Query<typeof endpoint>

const NO_CONTENT = { size_bytes: null, content_type: null, content_hash: null, uploaded_at: null }

export async function showShare(context: Context, share_id: string, query: ListQuery): Promise<SharedContent> {
  const found = await requireShare(context, share_id)
  const { share } = found
  const facts = {
    name: nameOf(share),
    created_at: isoSeconds(share.created_at),
    expires_at: timeOrNull(share.expires_at),
  }
  return { ...facts, ...(await (isFolder(share) ? folder(context, found, query) : file(context, found))) }
}

async function file(context: Context, found: FoundShare) {
  const row = await requireSharedFile(context, found, nameOf(found.share))
  const { record } = await readEvidence(context, found.locker.receipt_id)
  const attested = record !== null && (await isProven(context, record, row))
  return { kind: 'file', ...contentOf(row), attested } as const
}

async function folder({ database: { db } }: Context, found: FoundShare, query: ListQuery) {
  const page = await listFolder(db, found, query)
  const { locker } = found
  const known = await findAttestation(db, locker.receipt_id)
  const attested = known !== null && known.sequence !== null && known.manifest_version === locker.manifest_version
  return { kind: 'folder', ...NO_CONTENT, attested, ...page } as const
}

const MAX_FILES = 1000

/** Cursors are names relative to the folder. */
async function listFolder(db: Db, { share: { path }, locker }: FoundShare, { limit = MAX_FILES, cursor }: ListQuery) {
  const { after } = firstPageOf(cursor === undefined ? {} : { cursor })
  const range = { from: after === null ? path : afterName(path + after), upTo: topOf(path) }
  const { files: rows, next } = cutPage(await filesIn(db, locker.locker_id, range, limit + 1), limit)
  const files = rows
    .filter(({ object_id, filename }) => object_id !== null && !namesLocker(locker, filename))
    .map((row): SharedFile => ({ filename: row.filename.slice(path.length), ...contentOf(row) }))
  return { files, count: files.length, ...(next !== null && { next_cursor: cursorAfter(next.slice(path.length)) }) }
}

/** The size of a file is known before its hash is recorded. */
function contentOf(row: ListedFile) {
  const { content_type, content_hash, uploaded_at, size_bytes } = fileEntry(row)
  return { size_bytes: size_bytes ?? row.object_bytes, content_type, content_hash, uploaded_at }
}
