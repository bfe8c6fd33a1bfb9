import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Locker, Tx } from '../../db/schema.ts'
import { type Grant, mintedRow } from '../../lockers/access.ts'
import { lockLocker } from '../../lockers/store.ts'
import type { NamedFile } from '../name-files.ts'
import { newUploadToken, uploadToken } from './session-token.ts'
import type { SessionFile, SessionRow } from './store.ts'

/** A new file as its client describes it. */
interface NewSessionFile extends NamedFile {
  /** Null when unknown. */
  sizeBytes: number | null
  /** Whether the file may replace an existing one; true by default. */
  mayReplace?: boolean
  metadata?: string | null
  checksum?: { algorithm: string; type: string } | null
}

interface NewSession {
  /** The endpoint that opens the session; no other endpoint accepts it. */
  door: SessionRow['door']
  grant: Grant
  ttlSeconds: number
  files: readonly NewSessionFile[]
  /** A 43-character secret, if it is derived from other tokens. */
  token?: string
}

/** Creates the rows of a session and the token that opens it. */
export function newSession(
  context: Context,
  { locker_id }: Pick<Locker, 'locker_id'>,
  { door, grant, ttlSeconds, files, token: given }: NewSession,
): { token: string; session: SessionRow; files: SessionFile[] } {
  const { token, sessionId, tokenHash } = given === undefined ? newUploadToken(context) : uploadToken(given)
  const opened_at = unixNow(context)
  const session: SessionRow = {
    session_id: sessionId,
    locker_id,
    token_hash: tokenHash,
    ...mintedRow(grant),
    s3_key: grant?.s3Key ?? null,
    door,
    status: 'partial',
    opened_at,
    expires_at: opened_at + ttlSeconds,
    closed_at: null,
    lease_id: null,
    lease_until: null,
  }
  return { token, session, files: files.map((file, i) => sessionFile(sessionId, i, file)) }
}

function sessionFile(sessionId: string, i: number, file: NewSessionFile): SessionFile {
  return {
    session_id: sessionId,
    file_id: `f_${String(i + 1).padStart(4, '0')}`,
    filename: file.filename,
    content_type: file.contentType,
    size_bytes: file.sizeBytes,
    expected_hash: file.expectedHash,
    metadata: file.metadata ?? null,
    checksum_algorithm: file.checksum?.algorithm ?? null,
    checksum_type: file.checksum?.type ?? null,
    checksum: null,
    state: 'open',
    received_bytes: 0,
    stray_bytes: 0,
    part_count: 0,
    top_index: -1,
    revision: 0,
    chosen_revision: null,
    chosen_parts: null,
    replaces: file.mayReplace === false ? '' : null,
    content_hash: null,
    error: null,
    object_id: null,
    upload_ref: null,
    upload_state: null,
  }
}

/**
 * Begins an upload under the lock of its locker, so that concurrent uploads respect the limit on files in progress per
 * endpoint. Null, with nothing changed, beyond it.
 */
export function beginUpload<Added>(
  context: Context,
  { locker_id, door }: SessionRow,
  { files, most }: { files: number; most: number },
  add: (tx: Tx, locker: Locker) => Promise<Added>,
): Promise<Added | null> {
  return context.database.commit(async (tx) => {
    const locker = await lockLocker(tx, locker_id)
    const open = await countUnfinished(tx, locker_id, door, unixNow(context))
    return open + files > most ? null : add(tx, locker)
  })
}

/** Sends no Retry-After: until the uploads expire, only their clients can finish or end them. */
export function tooManyUnfinished(most: number, how: { hint: string; next: string }): ServiceError {
  const hint = `finish or cancel some of them: ${how.hint}; the others expire within a day`
  return new ServiceError('RATE_LIMITED', `the locker has reached its limit of ${most} unfinished uploads`, {
    hint,
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: how.next, reason: 'unfinished', limit: most },
  })
}

async function countUnfinished(db: Db, lockerId: string, door: SessionRow['door'], now: number): Promise<number> {
  const { count } = await db
    .selectFrom('upload_sessions as s')
    .leftJoin('upload_session_files as f', (join) =>
      join.onRef('f.session_id', '=', 's.session_id').on('f.state', '!=', 'stored'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    .where('s.door', door === null ? 'is' : '=', door)
    .where('s.expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}
