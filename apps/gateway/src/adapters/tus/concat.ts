// Joins partial uploads. One transaction moves the parts of all of them to one new upload; then its file is stored,
// which copies the parts into one object. The URL of the joined upload is derived from the URLs of the partial uploads,
// so that a repeated request finds the result of the first.

import { hash } from 'node:crypto'
import type { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { requireWritable } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import type { NamedFile } from '../../files/name-files.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { newSession } from '../../files/parts/new-session.ts'
import { acceptsParts } from '../../files/parts/record-parts.ts'
import { sessionIdOf } from '../../files/parts/session-token.ts'
import { findSession, findSessionFile, lockSessions, type SessionFile } from '../../files/parts/store.ts'
import { isGranted } from '../../lockers/access.ts'
import { requireQuota } from '../../lockers/quota.ts'
import { createdAnswer } from './answers.ts'
import { badHeader, concatInvalid, tokenInvalid, tooLong } from './errors.ts'
import { finishUpload, hasAllBytes } from './finish.ts'
import { headerOf } from './headers.ts'
import { closeJoined, insertUpload, moveParts } from './store.ts'
import type { TusCaller } from './tokens.ts'
import { FILE_ID, findUpload, isUploadId, TTL_SECONDS, type Upload } from './upload.ts'

const MAX_PARTIALS = 100

interface Final {
  concat: string
  named: NamedFile
  metadata: string | null
}

export async function joinUploads(
  context: Context,
  caller: TusCaller,
  wire: WireRequest,
  final: Final,
): Promise<Bytes> {
  if (wire.hasBody) throw badHeader('Upload-Concat', 'a final upload must not have a body')
  if (headerOf(wire, 'Upload-Length') !== null)
    throw badHeader('Upload-Length', 'must be absent: the partial uploads determine the length')
  const ids = partialIds(final.concat)
  const token = hash('sha256', `final tus upload of ${ids.join(' ')}`, 'base64url')
  if (!(await findSession(context.database.db, sessionIdOf(token)))) await join(context, caller, ids, token, final)
  const upload = await findUpload(context, token)
  if (upload.session.locker_id !== caller.locker.locker_id)
    throw concatInvalid('a partial upload belongs to another locker')
  return createdAnswer(context, token, { ...upload, file: await finishUpload(context, upload) })
}

/** The last segments of the URLs, which may be relative. */
export function partialIds(concat: string): string[] {
  const urls = concat
    .slice(concat.indexOf(';') + 1)
    .split(/\s+/)
    .filter((url) => url !== '')
  if (urls.length === 0) throw concatInvalid('Upload-Concat names no partial upload')
  if (urls.length > MAX_PARTIALS) throw concatInvalid(`Upload-Concat may name ${MAX_PARTIALS} partial uploads`)
  const ids = urls.map((url) => /\/v1\/tus\/([^/?#]+)$/.exec(url)?.[1] ?? '')
  if (!ids.every(isUploadId)) throw concatInvalid('Upload-Concat contains a URL that is not an upload of this gateway')
  if (new Set(ids).size < ids.length) throw concatInvalid('Upload-Concat names an upload twice')
  return ids
}

async function join(
  context: Context,
  caller: TusCaller,
  ids: readonly string[],
  token: string,
  { named, metadata, concat }: Final,
): Promise<void> {
  const { locker, grant, mayReplace } = caller
  const partials = await Promise.all(ids.map((id) => findUpload(context, id).catch(() => null)))
  const sizeBytes = requireJoinable(caller, partials).reduce((sum, { file }) => sum + file.received_bytes, 0)
  const max = maxObjectBytes(context, locker.provider)
  if (sizeBytes > max) throw tooLong(max)
  await requireQuota(context, locker, { named: [{ filename: named.filename, bytes: sizeBytes }] })
  const files = [{ ...named, sizeBytes, mayReplace }]
  const made = newSession(context, locker, { door: 'tus', grant, ttlSeconds: TTL_SECONDS, files, token })
  const { session_id } = made.session
  const block_bytes = partials[0]!.tus.block_bytes
  const row = { session_id, kind: 'final' as const, upload_metadata: metadata, upload_concat: concat, block_bytes }
  await context.database.commit(async (tx) => {
    const joined = await moveAllParts(tx, context, caller, ids, made.files[0]!)
    // A concurrent identical request has already joined them.
    if (joined) await insertUpload(tx, made.session, joined, row)
  })
}

/** Runs under the locks of all partial uploads. Null when a concurrent identical request has already joined them. */
async function moveAllParts(
  tx: Tx,
  context: Context,
  { grant }: TusCaller,
  ids: readonly string[],
  final: SessionFile,
): Promise<SessionFile | null> {
  const now = unixNow(context)
  const sessions = await lockSessions(tx, ids.map(sessionIdOf))
  if (await findSession(tx, final.session_id)) return null
  let [index, bytes] = [0, 0]
  for (const id of ids) {
    const session = sessions.get(sessionIdOf(id))
    const file = session && (await findSessionFile(tx, session.session_id, FILE_ID))
    if (!session || !file || file.state !== 'open' || !hasAllBytes(file) || !acceptsParts(session, now))
      throw unusable()
    if (!isGranted(session, grant)) throw tokenInvalid()
    requireWritable(session)
    await moveParts(tx, file, final, index)
    await closeJoined(tx, session.session_id, now)
    index += file.part_count
    bytes += file.received_bytes
  }
  return { ...final, received_bytes: bytes, size_bytes: bytes, part_count: index, top_index: index - 1 }
}

function requireJoinable({ locker }: TusCaller, partials: readonly (Upload | null)[]): Upload[] {
  return partials.map((partial) => {
    if (partial?.session.locker_id !== locker.locker_id || partial.tus.kind !== 'partial') throw unusable()
    if (!hasAllBytes(partial.file)) throw concatInvalid('a partial upload is not finished')
    return partial
  })
}

function unusable() {
  return concatInvalid('a partial upload is unknown, expired, already joined, or in another locker')
}
