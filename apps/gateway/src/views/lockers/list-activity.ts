// What was done to a locker: changes of access, payments and statements, from the tables that have them. Each is read
// newest first from its own position, and the cursor has all three: times of different tables need not be in order.

import type { Activity, ActivityEntry, listActivity as endpoint } from '@svc/api/activity'
import type { Query } from '@svc/api/endpoint'
import { lockerName, operatorName } from '@svc/api/locker-names'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { type AccessChange, parseAccessChange } from '../../continuity/access-changes.ts'
import type { DocumentId } from '../../continuity/document-id.ts'
import { accessChangesOf } from '../../continuity/store.ts'
import type { Locker, RevocationTable, S3KeyTable } from '../../db/schema.ts'
import { statementsBefore } from '../../evidence/store.ts'
import { renewalsBefore } from '../../lockers/store.ts'

const DEFAULT_LIMIT = 100

/** The page before ended at these entries. */
interface Position {
  change: { at: number; id: string }
  payment: { at: number; id: string }
  statement: number
}

interface Row {
  at: number
  document: DocumentId
  entry: Omit<ActivityEntry, 'at'>
  /** The position after this row. */
  passed: Partial<Position>
}

export async function listActivity(
  context: Context,
  locker: Locker,
  { limit = DEFAULT_LIMIT, cursor }: Query<typeof endpoint>,
): Promise<Activity> {
  let position = cursor === undefined ? NEWEST : positionIn(cursor)
  const sources = await Promise.all([
    changesOf(context, locker, position, limit + 1),
    statementsOf(context, locker, position, limit + 1),
    // Last: of entries of one second, the opening of the locker is the oldest.
    paymentsOf(context, locker, position, limit + 1),
  ])
  const page: Row[] = []
  while (page.length < limit) {
    const newest = sources
      .filter(({ length }) => length > 0)
      .sort(([a], [b]) => b!.at - a!.at)[0]
      ?.shift()
    if (!newest) break
    page.push(newest)
    position = { ...position, ...newest.passed }
  }
  await context.continuity.requireWritten(...page.map(({ document }) => document))
  const isLast = sources.every(({ length }) => length === 0)
  return {
    locker_id: locker.locker_id,
    activity: page.map(({ at, entry }) => ({ at: isoSeconds(at), ...entry })),
    count: page.length,
    ...(!isLast && { next_cursor: cursorOf(position) }),
  }
}

/** With the owner's S3 keys for all lockers that were created or revoked since this one was opened. */
async function changesOf(context: Context, locker: Locker, { change }: Position, limit: number): Promise<Row[]> {
  const { db } = context.database
  const [ofLocker, ofOwner] = await Promise.all([
    accessChangesOf(db, locker.locker_id, change, limit),
    accessChangesOf(db, locker.owner, change, limit),
  ])
  const sinceOpened = ofOwner.filter(({ revoked_at }) => revoked_at >= openedAt(locker))
  return [...ofLocker, ...sinceOpened].sort(newestFirst).map(({ revocation_id: id, revoked_at: at, revoked }) => {
    const parsed = parseAccessChange(revoked)
    const entry = { ...NOTHING, ...(parsed ? shownChange(context, parsed) : { what: 'other' as const }) }
    return { at, document: { kind: 'access', key: id }, entry, passed: { change: { at, id } } }
  })
}

function newestFirst(a: RevocationTable, b: RevocationTable): number {
  return b.revoked_at - a.revoked_at || (a.revocation_id < b.revocation_id ? 1 : -1)
}

const NOTHING = { id: null, label: null, path: null, by: null } as const

function shownChange(
  { shareIds }: Context,
  change: AccessChange,
): Partial<ActivityEntry> & Pick<ActivityEntry, 'what'> {
  switch (change.what) {
    case 'operator_added':
      return { what: 'operator_added', id: change.operator }
    case 'operator':
      return { what: 'operator_removed', id: change.operator }
    case 'urls':
      return { what: 'everything_ended' }
    case 's3_key_made':
      return createdKey(change.row)
    case 's3_key':
      return { what: 's3_key_revoked', id: change.key }
    case 'wallet_s3_key_made':
      return { ...createdKey(change.row), all_lockers: true }
    case 'wallet_s3_key':
      return { what: 's3_key_revoked', id: change.key, all_lockers: true }
    case 'share_made': {
      const { seed, label, path, minted_by } = change.row
      return { what: 'share_created', id: shareIds.idOf(seed), label, path, by: minted_by }
    }
    case 'share':
      return { what: 'share_ended', id: shareIds.idOf(change.seed) }
    case 'link':
      return { what: linkChange(change) }
    case 'restriction':
      return { what: change.restriction ?? 'restriction_lifted', label: change.notice }
    case 'anchoring':
      return { what: 'anchoring_changed', label: change.anchoring }
    case 'tags':
      return change.operator === undefined
        ? { what: 'renamed', label: lockerName(change.tags) }
        : { what: 'operator_named', id: change.operator, label: operatorName(change.tags, change.operator) }
    default:
      return { what: 'other' }
  }
}

function createdKey({ access_key_id: id, name: label, prefix, minted_by: by }: S3KeyTable) {
  return { what: 's3_key_created', id, label, path: prefix === '' ? null : prefix, by } as const
}

/** Without an action, a link that is not closed may also have been rotated. */
function linkChange({ action, status }: AccessChange & { what: 'link' }): ActivityEntry['what'] {
  if (action === 'rotate') return 'public_link_rotated'
  return !status || status.link_closed === 1 ? 'public_link_closed' : 'public_link_opened'
}

function openedAt({ created_at }: Locker): number {
  return Math.floor(Date.parse(created_at) / 1000)
}

/** The renewals, and the opening of the locker as the oldest. */
async function paymentsOf({ database }: Context, locker: Locker, position: Position, limit: number): Promise<Row[]> {
  const { locker_id, receipt_id } = locker
  const { payment: before } = position
  const renewals = await renewalsBefore(database.db, locker_id, before, limit)
  const rows = renewals.map((renewal): Row => {
    const { receipt_id: id, renewed_at: at } = renewal
    const document = { kind: 'receipt', key: id } as const
    return {
      at,
      document,
      entry: { ...NOTHING, what: 'renewed', id },
      passed: { payment: { at, id: beginningOf(id) } },
    }
  })
  if (before.at === OPENED || renewals.length === limit) return rows
  return [
    ...rows,
    {
      at: openedAt(locker),
      document: { kind: 'locker', key: locker_id },
      entry: { ...NOTHING, what: 'opened', id: receipt_id },
      passed: { payment: { at: OPENED, id: NONE } },
    },
  ]
}

async function statementsOf({ database }: Context, locker: Locker, position: Position, limit: number): Promise<Row[]> {
  const rows = await statementsBefore(database.db, locker.receipt_id, position.statement, limit)
  return rows.map(({ sequence, issued_at: at, statement_digest: key }) => ({
    at,
    document: { kind: 'statement', key },
    entry: { ...NOTHING, what: 'attested', sequence },
    passed: { statement: sequence },
  }))
}

/** The opening was on an earlier page. */
const OPENED = 0
const END = Number.MAX_SAFE_INTEGER
/** Sorts before every id. */
const NONE = '-'
const NEWEST: Position = { change: { at: END, id: NONE }, payment: { at: END, id: NONE }, statement: END }

/** Half of a receipt id is enough to continue and opens no file. Addresses end up in logs. */
function beginningOf(receiptId: string): string {
  return receiptId.slice(0, 'rcpt_'.length + 16)
}

function cursorOf({ change, payment, statement }: Position): string {
  return toBase64Url(utf8([change.at, change.id, payment.at, payment.id, statement].join(' ')))
}

const CURSOR = /^(\d{1,16}) ([0-9a-f]{32}|-) (\d{1,16}) (rcpt_[0-9a-f]{16}|-) (\d{1,16})$/

function positionIn(cursor: string): Position {
  const bytes = fromBase64Url(cursor)
  const [, changedAt, change, paidAt, payment, statement] = CURSOR.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  const numbers = [changedAt, paidAt, statement].map(Number)
  if (change === undefined || payment === undefined || !numbers.every(Number.isSafeInteger))
    throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
  return {
    change: { at: Number(changedAt), id: change },
    payment: { at: Number(paidAt), id: payment },
    statement: Number(statement),
  }
}
