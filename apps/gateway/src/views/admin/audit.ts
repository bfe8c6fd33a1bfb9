// The audit trail: rows are only ever added, each with the hash of the previous one (T-26). Triggers refuse changes; a
// change that bypasses them alters hashes that others have seen. Save `head` outside this database.

import { hash } from 'node:crypto'
import type { AuditEntry, AuditLog } from '@svc/api/operations'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import type { AuditLogTable, Db, Tx } from '../../db/schema.ts'
import { insertAuditRow, lastAuditRow, lockAuditLog, pageOfAuditLog, rowsAfter } from './audit-store.ts'

export type AuditAction = AuditEntry['action']

interface Act {
  actor: string
  action: AuditAction
  /** The job, the locker, or the network and transaction. */
  target: string
  reason: string
  details: Record<string, unknown>
}

const FIRST_HASH = '0'.repeat(64)

/** Call it last in the transaction of the action: all other actions wait for the lock. */
export async function appendAudit(
  context: Pick<Context, 'now' | 'log'>,
  tx: Tx,
  { details, ...act }: Act,
  outcome: AuditLogTable['outcome'] = 'done',
): Promise<void> {
  await lockAuditLog(tx)
  const last = await lastAuditRow(tx)
  const row = {
    sequence: (last?.sequence ?? 0) + 1,
    at: isoSeconds(unixNow(context)),
    ...act,
    outcome,
    details: JSON.stringify(details),
    previous_hash: last?.hash ?? FIRST_HASH,
  }
  const entry = { ...row, hash: hashOf(row) }
  await insertAuditRow(tx, entry)
  const { sequence, hash, actor, action, target } = entry
  context.log.info({ audit: `${sequence}:${hash}`, actor, action, target, outcome }, 'the audit trail has a new entry')
}

export async function recordRefusal(
  context: Context,
  attempt: Pick<Act, 'actor' | 'action' | 'target'>,
): Promise<void> {
  const act = { ...attempt, reason: '', details: {} }
  await context.database.commit((tx) => appendAudit(context, tx, act, 'refused'))
}

/** The hash of a JSON array as text, so that anyone can recompute it. */
function hashOf(row: Omit<AuditLogTable, 'hash'>): string {
  const { sequence, at, actor, action, target, outcome, reason, details, previous_hash } = row
  return hash('sha256', JSON.stringify([sequence, at, actor, action, target, outcome, reason, details, previous_hash]))
}

export interface AuditQuery {
  target?: string
  limit?: number
  cursor?: string
}

const PAGE = 100

export async function readAuditLog(
  { database: { db }, followChain }: Pick<Context, 'database'> & { followChain: FollowChain },
  query: AuditQuery,
): Promise<AuditLog> {
  return { ...(await auditPage(db, query)), chain: await followChain() }
}

/** The newest first. */
export async function auditPage(
  db: Db,
  { target, limit = PAGE, cursor }: AuditQuery,
): Promise<Omit<AuditLog, 'chain'>> {
  const before = cursor === undefined ? null : Number(cursor)
  const rows = await pageOfAuditLog(db, { target: target ?? null, before, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { entries: page.map(auditEntry), ...(last && { next_cursor: String(last.sequence) }) }
}

export function auditEntry({ details, action, ...row }: AuditLogTable): AuditEntry {
  return { ...row, action: action as AuditAction, details: JSON.parse(details) } // appendAudit wrote it
}

const ROWS_AT_ONCE = 1000

/** How far the log was recomputed, and the first entry that does not fit. */
interface Followed {
  head: { sequence: number; hash: string }
  brokenAt: number | null
}

const NOTHING: Followed = { head: { sequence: 0, hash: FIRST_HASH }, brokenAt: null }

async function follow(db: Db, from: Followed, onRow: (row: AuditLogTable) => void = () => {}): Promise<Followed> {
  let { head, brokenAt } = from
  for (;;) {
    const rows = await rowsAfter(db, head.sequence, ROWS_AT_ONCE)
    for (const row of rows) {
      const follows = row.sequence === head.sequence + 1 && row.previous_hash === head.hash && row.hash === hashOf(row)
      if (!follows) brokenAt ??= head.sequence + 1
      onRow(row)
      head = { sequence: row.sequence, hash: row.hash }
    }
    if (rows.length < ROWS_AT_ONCE) return { head, brokenAt }
  }
}

function chainOf({ head, brokenAt }: Followed): Omit<AuditLog['chain'], 'checked_at'> {
  return {
    intact: brokenAt === null,
    entries: head.sequence,
    head: head.sequence === 0 ? null : `${head.sequence}:${head.hash}`,
    broken_at: brokenAt,
  }
}

/** Recomputes every hash. `known` is a head that was saved elsewhere: the log must still contain it. */
export async function checkChain(db: Db, known: string | null = null) {
  const wanted = known?.split(':') ?? null
  let hasKnown = wanted === null
  const { head, brokenAt } = await follow(db, NOTHING, (row) => {
    if (String(row.sequence) === wanted?.[0] && row.hash === wanted[1]) hasKnown = true
  })
  return chainOf({ head, brokenAt: hasKnown ? brokenAt : (brokenAt ?? Number(wanted?.[0])) })
}

export type FollowChain = () => Promise<AuditLog['chain']>

const FULL_CHECK_SECONDS = 3600

/**
 * For readers: recomputes only the entries after the last checked one. Recomputes all of them every hour, and when the
 * last checked entry has changed.
 */
export function createChainFollower(context: Pick<Context, 'database' | 'now'>): FollowChain {
  const { db } = context.database
  let followed: (Followed & { since: number }) | null = null
  return async () => {
    const now = unixNow(context)
    const known = followed
    const isGood = known !== null && now - known.since < FULL_CHECK_SECONDS && (await hasHead(db, known))
    const since = isGood ? known.since : now
    followed = { ...(await follow(db, isGood ? known : NOTHING)), since }
    return { ...chainOf(followed), checked_at: isoSeconds(since) }
  }
}

async function hasHead(db: Db, { head: { sequence, hash } }: Followed): Promise<boolean> {
  if (sequence === 0) return true
  const [row] = await rowsAfter(db, sequence - 1, 1)
  return row?.sequence === sequence && row.hash === hash && hashOf(row) === hash
}
