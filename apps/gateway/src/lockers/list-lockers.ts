// The lockers of a wallet, for a user who has nothing but the wallet (ADD-16).

import type { Query } from '@svc/api/endpoint'
import type { listLockers as endpoint, ListedLocker, LockerList } from '@svc/api/lockers'
import type { Provider } from '@svc/api/providers'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ValidationError } from '@svc/service/service-error'
import type { WalletCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import type { DocumentId } from '../continuity/document-id.ts'
import { type ListedPurchase, type ListPosition, operatedBy, purchasesOf } from './store.ts'

const DEFAULT_LIMIT = 100

/** Sorts after every time and every receipt id. */
const NEWEST: ListPosition = { confirmedAt: '~', receiptId: '' }

type Entry = ListedPurchase & { role: ListedLocker['role'] }

export async function listLockers(
  context: Context,
  { signer }: WalletCaller,
  { limit = DEFAULT_LIMIT, cursor }: Omit<Query<typeof endpoint>, 'wallet'>,
): Promise<LockerList> {
  const after = cursor === undefined ? NEWEST : positionIn(cursor)
  await limitSigner(context, signer)
  const { db } = context.database
  const { identity: wallet } = signer
  const [owned, operated] = await Promise.all([
    purchasesOf(db, wallet, after, limit + 1),
    operatedBy(db, wallet, after, limit + 1),
  ])
  const newest = [...owned.map(withRole('owner')), ...operated.map(withRole('operator'))].sort(newestFirst)
  const page = newest.slice(0, limit)
  await context.continuity.requireWritten(...page.flatMap(documentIdsOf))
  const lockers = page.filter((entry) => entry.role === 'owner' || isOperator(entry, wallet)).map(listedLocker)
  const last = newest.length > limit ? page.at(-1) : undefined
  return { wallet, lockers, count: lockers.length, ...(last && { next_cursor: cursorAfter(last) }) }
}

function documentIdsOf({ receipt_id, created_at }: Entry): DocumentId[] {
  const receipt: DocumentId = { kind: 'receipt', key: receipt_id }
  return created_at === null ? [receipt] : [receipt, { kind: 'locker', key: lockerId(receipt_id) }]
}

function withRole(role: Entry['role']): (purchase: ListedPurchase) => Entry {
  return (purchase) => ({ ...purchase, role })
}

function newestFirst(a: Entry, b: Entry): number {
  if (a.confirmed_at !== b.confirmed_at) return a.confirmed_at < b.confirmed_at ? 1 : -1
  return a.receipt_id < b.receipt_id ? 1 : -1
}

/** The locker's own row decides, as everywhere. */
function isOperator({ operators }: Entry, wallet: string): boolean {
  return (JSON.parse(operators ?? '[]') as string[]).includes(wallet)
}

function listedLocker({ receipt, role, provider, tags, created_at, ...locker }: Entry): ListedLocker {
  const { receipt_id, payer_pubkey, network, confirmed_at } = JSON.parse(receipt) as SignedReceipt
  return {
    receipt_id,
    locker_id: lockerId(receipt_id),
    role,
    opened: created_at !== null,
    owner: payer_pubkey,
    provider: provider as Provider, // from the quote
    network,
    tags: tags === null ? [] : JSON.parse(tags),
    paid_at: confirmed_at,
    created_at,
    expires_at: locker.expires_at,
    file_count: locker.file_count ?? 0,
    total_bytes: locker.total_bytes ?? 0,
    terms: locker.terms === null ? null : JSON.parse(locker.terms),
  }
}

const ID_CHARACTERS = 'rcpt_'.length + 16

/** Half of the receipt id: sufficient to continue the list, insufficient to open files. Addresses end up in logs. */
function cursorAfter({ confirmed_at, receipt_id }: Entry): string {
  return toBase64Url(utf8(`${confirmed_at} ${receipt_id.slice(0, ID_CHARACTERS)}`))
}

function positionIn(cursor: string): ListPosition {
  const bytes = fromBase64Url(cursor)
  const [, confirmedAt, receiptId] = /^([0-9TZ:.-]*) (rcpt_[0-9a-f]{16})$/.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  if (confirmedAt !== undefined && receiptId !== undefined) return { confirmedAt, receiptId }
  throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
}
