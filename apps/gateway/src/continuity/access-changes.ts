// Changes of who may do what in a locker, and of the keys that sign. A database that was set back lacks the latest
// changes and would grant access again that has ended (T-161).

import { randomBytes } from 'node:crypto'
import type { Commit, CommitOptions } from '@svc/database/commit'
import { toHex } from '@svc/protocol/bytes'
import type { Endorsement, Revocation } from '@svc/protocol/key-changes'
import type { AnnouncedKeyTable, Locker, S3KeyTable, Schema, ShareTable, Tx } from '../db/schema.ts'
import type { DocumentId, RecordDocuments } from './document-id.ts'

export type AccessChange =
  | { what: 'operator_added'; locker: string; operator: string }
  /** The operator was removed. `epoch`: the access epoch of the locker since then. */
  | { what: 'operator'; locker: string; operator: string; epoch: number }
  | { what: 'urls'; locker: string; epoch: number }
  | { what: 's3_key_made'; locker: string; row: S3KeyTable }
  /** The key was revoked. */
  | { what: 's3_key'; locker: string; key: string }
  /** A key for all lockers that the wallet owns. */
  | { what: 'wallet_s3_key_made'; wallet: string; row: S3KeyTable }
  /** The key was revoked. */
  | { what: 'wallet_s3_key'; wallet: string; key: string }
  | { what: 'share_made'; locker: string; row: ShareTable }
  /** The share was ended. */
  | { what: 'share'; locker: string; seed: string }
  /** Release 1.1.0 wrote no status: the link was then closed, or works with a new handle only. */
  | { what: 'link'; locker: string; status?: { link_closed: number; link_handle: string | null } }
  /** Null: the restriction was lifted. */
  | { what: 'restriction'; locker: string; restriction: 'frozen' | 'taken_down' | null; notice: string | null }
  /** Whether the statements of the locker are published one by one. */
  | { what: 'anchoring'; locker: string; anchoring: Locker['anchoring'] }
  /** The locker was renamed. */
  | { what: 'tags'; locker: string; tags: string[] }
  /** Keys that sign or will sign, in hex. The documents in which they endorse or revoke each other are public. */
  | { what: 'key_announced'; row: AnnouncedKeyTable }
  /** The announcement was withdrawn. */
  | { what: 'announced_key'; key: string }
  | { what: 'rotation'; from: string; to: string; at: string; endorsement: Endorsement | null }
  | {
      what: 'signing_key'
      key: string
      since: string
      revocations: Revocation[]
      endorsement: Endorsement | null
    }

const KINDS: Record<AccessChange['what'], true> = {
  operator_added: true,
  operator: true,
  urls: true,
  s3_key_made: true,
  s3_key: true,
  wallet_s3_key_made: true,
  wallet_s3_key: true,
  share_made: true,
  share: true,
  link: true,
  restriction: true,
  anchoring: true,
  tags: true,
  key_announced: true,
  announced_key: true,
  rotation: true,
  signing_key: true,
}

/** Null for an unknown kind and for incomplete JSON. */
export function parseAccessChange(text: string): AccessChange | null {
  try {
    const change = JSON.parse(text) as AccessChange
    return Object.hasOwn(KINDS, change.what) ? change : null
  } catch {
    return null
  }
}

const OF_KEYS: AccessChange['what'][] = ['key_announced', 'announced_key', 'rotation', 'signing_key']

export function isKeyChange(text: string): boolean {
  const change = parseAccessChange(text)
  return change !== null && OF_KEYS.includes(change.what)
}

/** Call it in the transaction of the change. */
export type RecordAccess = (change: AccessChange) => Promise<void>

export type ChangeAccess = <Result>(
  work: (tx: Tx, record: RecordAccess) => Promise<Result>,
  options?: CommitOptions,
) => Promise<Result>

/**
 * `now` returns Unix seconds. The result of `work`, and a refusal (the key is already gone), may reveal changes that
 * others have committed but not yet written to the journal: `requireOthers` writes those first. Readers of a locker do
 * not wait for them: the caller who made the change has no answer yet, and a pending record promises nothing.
 */
export function createChangeAccess(
  commit: Commit<Schema, DocumentId>,
  now: () => number,
  requireOthers: () => Promise<void>,
): ChangeAccess {
  return async (work, options) => {
    let hasStarted = false
    try {
      return await commit((tx, recordDocuments) => {
        hasStarted = true
        return work(tx, recorder(tx, recordDocuments, now()))
      }, options)
    } finally {
      if (hasStarted) await requireOthers()
    }
  }
}

/** For a transaction that changes more than access. */
export function recorder(tx: Tx, recordDocuments: RecordDocuments, changedAt: number): RecordAccess {
  return async (change) => {
    const key = toHex(randomBytes(16))
    // A replay follows these times. They match the order of the commits even when clocks differ.
    await insertAccessChange(tx, { key, changedAt: Math.max(changedAt, await lastChange(tx)), change })
    recordDocuments({ kind: 'access', key })
  }
}

async function lastChange(tx: Tx): Promise<number> {
  const row = tx.selectFrom('revocations').select('revoked_at').orderBy('revoked_at', 'desc').limit(1)
  return (await row.executeTakeFirst())?.revoked_at ?? 0
}

interface DatedChange {
  key: string
  changedAt: number
  change: AccessChange
}

/** False where the database already has it. */
export async function insertAccessChange(tx: Tx, { key, changedAt, change }: DatedChange): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('revocations')
    .values({ revocation_id: key, revoked_at: changedAt, revoked: JSON.stringify(change) })
    .onConflict((conflict) => conflict.column('revocation_id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}
