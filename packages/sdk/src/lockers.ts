// Lockers: their ids, finding and opening them, their operators and public links.

import {
  type Anchoring,
  addOperator as addEndpoint,
  changeAnchoring as changeAnchoringEndpoint,
  changePublicLink as changeLinkEndpoint,
  type ListedLocker,
  type LockerMetadata,
  listLockers,
  lockerMetadata,
  lockerRecord,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
  type ProvisionManifest,
  type PublicLink,
  removeOperator as removeEndpoint,
  renameLocker as renameLockerEndpoint,
  revokeAccess as revokeEndpoint,
  signedProvision,
} from '@svc/api/lockers'
import { createTusToken, type TusToken } from '@svc/api/tus'
import { type LockerUsage, lockerUsage } from '@svc/api/usage'
import { lockerId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { call } from './calls/call.ts'
import type { Context } from './context.ts'
import { isGatewayError, UntrueAnswer } from './errors.ts'
import { NAME_TAG, nameObjection } from './locker-names.ts'

/** Some requests name a locker by its id, others by its receipt. */
export interface Locker {
  locker_id: string
  receipt_id: string
}

/** The id of a locker is derived from its receipt. */
export function lockerOf(receipt_id: string): Locker {
  return { locker_id: lockerId(receipt_id), receipt_id }
}

export interface ProvisionOptions {
  tags?: string[]
  /** An Ed25519 key in base58 that may read, write and list files from the start. */
  operator?: string
  signal?: AbortSignal | undefined
}

/**
 * Adds the name of the locker to its tags, so that the wallet alone is enough to find it by name. Like all tags, the
 * name is visible to owner and operators. An invalid name is omitted: check it with `nameObjection` first. Undefined
 * without any tags.
 */
export function namedTags(tags: readonly string[] = [], name: string | null): string[] | undefined {
  const isFitting = name !== null && nameObjection(name) === null && tags.length < MAX_TAGS
  const all = isFitting ? [...tags, NAME_TAG + name] : [...tags]
  return all.length > 0 ? all : undefined
}

/** Why the gateway would not open a locker with these options, or null. */
export function provisionObjection({ tags = [], operator }: ProvisionOptions): string | null {
  if (operator !== undefined && !ed25519PublicKeyFromBase58(operator))
    return `the operator ${JSON.stringify(operator)} is not an Ed25519 public key in base58`
  if (tags.length > MAX_TAGS) return `a locker has at most ${MAX_TAGS} tags`
  const long = tags.find((tag) => [...tag].length > MAX_TAG_CHARACTERS)
  return long === undefined ? null : `the tag ${JSON.stringify(long)} has more than ${MAX_TAG_CHARACTERS} characters`
}

/** Opens the locker of a receipt, or returns it if it is open. The client must sign with the key that paid. */
export async function provision(
  context: Context,
  receipt_id: string,
  { tags, operator, signal }: ProvisionOptions = {},
): Promise<Locker & { manifest: ProvisionManifest }> {
  const body = { receipt_id, ...(tags && { tags }), ...(operator && { operator_pubkey: operator }) }
  const { body: manifest } = await call(context, signedProvision, { body, signal })
  const locker = lockerOf(receipt_id)
  const { space, owner } = manifest
  if (manifest.receipt_id !== receipt_id || space.locker_id !== locker.locker_id)
    throw new UntrueAnswer(`the locker ${space.locker_id} does not belong to the receipt ${receipt_id}`)
  if (owner !== context.signer?.address) throw new UntrueAnswer(`the locker belongs to ${owner}, who did not pay`)
  return { ...locker, manifest }
}

const PAGE = 1000

/**
 * Lists what the signer owns or operates, newest payment first, page by page. Entries that are not `opened` were paid
 * for, and `provision` opens them.
 */
export async function* lockers(
  context: Context,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<ListedLocker> {
  const wallet = context.signer?.address
  if (wallet === undefined) throw new TypeError('a list of lockers needs a client with a signer')
  const seen = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const query = { wallet, limit: PAGE, ...(cursor && { cursor }) }
    const { body } = await call(context, listLockers, { query, signal })
    for (const locker of body.lockers) {
      requireListable(locker, wallet)
      // A list with repeated entries might never end.
      if (seen.has(locker.receipt_id)) throw new UntrueAnswer(`the receipt ${locker.receipt_id} is listed twice`)
      seen.add(locker.receipt_id)
      yield locker
    }
    cursor = body.next_cursor
    if (cursor === undefined) return
    if (body.lockers.length === 0) throw new UntrueAnswer('a page of the list of lockers is empty but not the last')
  }
}

function requireListable({ receipt_id, locker_id, role, owner }: ListedLocker, wallet: string): void {
  if (!/^rcpt_[0-9a-f]{32}$/.test(receipt_id) || locker_id !== lockerId(receipt_id))
    throw new UntrueAnswer(`the locker ${locker_id} does not belong to the receipt ${receipt_id}`)
  if ((role === 'owner') !== (owner === wallet))
    throw new UntrueAnswer(`the locker ${locker_id} is listed with ${wallet} as its ${role}, which is wrong`)
}

/** Reads the owner, operators, tags, terms and newest statement of a locker. */
export async function metadata(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<LockerMetadata> {
  return (await call(context, lockerMetadata, { params: { locker_id }, signal })).body
}

/** Reads what was bought for a locker, until when, and how much of it is used. */
export async function usage(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<LockerUsage> {
  return (await call(context, lockerUsage, { params: { locker_id }, signal })).body
}

/** Lets an Ed25519 key (base58) read, write and list files. Returns all operators. */
export async function addOperator(context: Context, { locker_id }: Locker, pubkey: string): Promise<string[]> {
  return (await call(context, addEndpoint, { params: { locker_id }, body: { pubkey } })).body.operators
}

/** Ends an operator's access immediately, with the URLs, shares and upload sessions that the key requested. */
export async function removeOperator(context: Context, { locker_id }: Locker, pubkey: string): Promise<void> {
  try {
    await call(context, removeEndpoint, { params: { locker_id, pubkey } })
  } catch (error) {
    // After a lost answer, the first attempt may have removed it.
    if (!isGatewayError(error, 'OPERATOR_NOT_FOUND') || error.attempts === 1) throw error
  }
}

/** Ends all URLs, shares and upload sessions of the locker, including the owner's. */
export async function revokeAccess(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<void> {
  await call(context, revokeEndpoint, { params: { locker_id }, signal })
}

/** Reads the state and id of the public link. Gateways up to 1.0.0 only have the receipt id. */
export async function publicLink(context: Context, locker: Locker, signal?: AbortSignal): Promise<PublicLink> {
  const { locker_id, receipt_id } = locker
  const { body } = await call(context, lockerRecord, { params: { locker_id }, signal })
  return body.public_link ?? { status: 'open', id: receipt_id }
}

/** Rotates the id of the public link, closes the link, or opens it again. */
export async function changePublicLink(
  context: Context,
  { locker_id }: Locker,
  action: 'rotate' | 'close' | 'open',
  signal?: AbortSignal,
): Promise<PublicLink> {
  return (await call(context, changeLinkEndpoint, { params: { locker_id }, body: { action }, signal })).body.public_link
}

/** Names the locker, or removes its name. Check names with `nameObjection`. Returns all tags of the locker. */
export async function renameLocker(
  context: Context,
  { locker_id }: Locker,
  name: string | null,
  signal?: AbortSignal,
): Promise<string[]> {
  return (await call(context, renameLockerEndpoint, { params: { locker_id }, body: { name }, signal })).body.tags
}

/** Publishes each statement of the locker separately, or only through the anchored checkpoints of the log. */
export async function changeAnchoring(
  context: Context,
  { locker_id }: Locker,
  anchoring: Anchoring,
  signal?: AbortSignal,
): Promise<Anchoring> {
  const { body } = await call(context, changeAnchoringEndpoint, { params: { locker_id }, body: { anchoring }, signal })
  return body.anchoring
}

export interface TusTokenOptions {
  /** How many minutes the token creates uploads. An hour by default, a day at most. */
  ttl_min?: number
  /** A folder with its final slash, which is put before the names of all files. */
  prefix?: string
  /** Whether uploads may replace files. The default is true without a prefix, and false with one. */
  overwrite?: boolean
  signal?: AbortSignal | undefined
}

/** Gets the endpoint and the header that standard tus clients need to upload into the locker. */
export async function tusToken(
  context: Context,
  { locker_id }: Locker,
  { signal, ...body }: TusTokenOptions = {},
): Promise<TusToken> {
  return (await call(context, createTusToken, { params: { locker_id }, body, signal })).body
}
