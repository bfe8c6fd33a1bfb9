// The identity that unlocked the page, and the session of the open locker. Both are in memory; `browser-key.ts` stores
// keys in the browser.

import { type Signal, signal } from '@preact/signals'
import type { LockerMetadata } from '@svc/api/lockers'
import type { Client, Locker } from '@svc/sdk'
import type { Signer } from '@svc/sdk/signers'
import { createSignedClient } from '../../signed-client.ts'
import { connectedWallet } from '../../wallets/connected.ts'
import { type BrowserKey, prepareBrowserKey, recordLocker } from './browser-key.ts'

/** A wallet asks its user for each signature; an opened key or a browser key does not. */
type IdentityKind = 'wallet' | 'key' | 'browser'

export interface Identity {
  kind: IdentityKind
  /** The name of the wallet; null for keys. */
  name: string | null
  address: string
  signer: Signer
  client: Client
}

export interface LockerSession {
  /** Signs for reading, writing and listing. */
  client: Client
  signer: Signer
  locker: Locker
  /** The address of the signer. */
  address: string
  kind: IdentityKind
  /** The name of the wallet; null for keys. */
  name: string | null
  role: 'owner' | 'operator'
  /** Whether requests need no click in a wallet. Then the page may also make optional requests, such as reloads. */
  isSilent: boolean
  /** The latest facts of the locker from the gateway. */
  facts: Signal<LockerMetadata>
  /** Reloads the facts. */
  refresh(): Promise<void>
  /**
   * The owner, who may attest, publish and manage. Asks for the owner's wallet or key if necessary; null if declined.
   */
  asOwner(): Promise<Identity | null>
}

/** The wallet or key that unlocked the page. */
export const identity = signal<Identity | null>(null)

const endings = new Set<() => void>()

/** Registers a function that ends what must not outlive a session, such as keys and uploads (T-68). */
export function endWithLock(end: () => void): void {
  endings.add(end)
}

export function endSession(): void {
  for (const end of endings) end()
}

/** The identity that unlocked the page, or else the wallet that paid on this page. */
export async function knownIdentity(): Promise<Identity | null> {
  const wallet = connectedWallet.value
  if (!identity.value && wallet)
    identity.value = await createIdentity(
      { kind: wallet.isSilent ? 'key' : 'wallet', name: wallet.name },
      wallet.signer,
    )
  return identity.value
}

/** Ends the session, and forgets the identity and the wallet. */
export function lock(): void {
  identity.value = null
  connectedWallet.value = null
  endSession()
}

/** The open request for the owner's wallet or key, shown as a dialog. */
export const ownerRequest = signal<{ owner: string; answer: (owner: Identity | null) => void } | null>(null)

/**
 * Receipts that were typed, followed or listed here, by locker. An unopened locker is opened with its receipt.
 */
export const knownReceipts = new Map<string, { receiptId: string; isUnopened: boolean }>()

export async function createIdentity(
  { kind, name }: Pick<Identity, 'kind' | 'name'>,
  signer: Signer,
): Promise<Identity> {
  return { kind, name, address: signer.address, signer, client: await createSignedClient(signer) }
}

/** Opens a locker as this identity; needs one signature. */
export async function openLocker(by: Identity, lockerId: string): Promise<LockerSession> {
  const facts = await by.client.metadata({ locker_id: lockerId, receipt_id: '' })
  const { lockerOf, UntrueAnswer } = await import('@svc/sdk')
  if (facts.locker_id !== lockerId || lockerOf(facts.receipt_id).locker_id !== lockerId)
    throw new UntrueAnswer('the locker is another one')
  return createSession(by, facts)
}

/** Lets the owner register the key of this browser, and opens the locker with it; the owner signs once. */
export async function openWithBrowserKey(
  owner: Identity,
  lockerId: string,
  isRemembered: boolean,
): Promise<LockerSession> {
  const key = await prepareBrowserKey(owner.address, isRemembered)
  await owner.client.addOperator({ locker_id: lockerId, receipt_id: '' }, key.address)
  await recordLocker(key, lockerId, true)
  return continueWith(key, lockerId)
}

export interface Opening {
  name: string
  /** Whether the same signature registers the key of this browser, and whether the key is stored. */
  withBrowserKey: boolean
  isRemembered: boolean
}

/** Opens a locker that was paid for; the wallet signs once with a browser key, and twice without. */
export async function openPaidLocker(owner: Identity, receiptId: string, opening: Opening): Promise<LockerSession> {
  const { namedTags } = await import('@svc/sdk')
  const { name, withBrowserKey, isRemembered } = opening
  const key = withBrowserKey ? await prepareBrowserKey(owner.address, isRemembered) : null
  const tags = namedTags([], name.trim() || null)
  const { locker_id } = await owner.client.provision(receiptId, {
    ...(tags && { tags }),
    ...(key && { operator: key.address }),
  })
  knownReceipts.delete(locker_id)
  if (!key) return openLocker(owner, locker_id)
  await recordLocker(key, locker_id, true)
  return continueWith(key, locker_id)
}

/** Opens a locker with a key of this browser, without a wallet signature. */
export async function continueWith(key: BrowserKey, lockerId: string): Promise<LockerSession> {
  return openLocker(await createIdentity({ kind: 'browser', name: null }, key.signer), lockerId)
}

function createSession(by: Identity, first: LockerMetadata): LockerSession {
  const { locker_id, receipt_id, owner } = first
  const locker = { locker_id, receipt_id }
  const facts = signal(first)
  return {
    client: by.client,
    signer: by.signer,
    locker,
    address: by.address,
    kind: by.kind,
    name: by.name,
    role: by.address === owner ? 'owner' : 'operator',
    isSilent: by.kind !== 'wallet',
    facts,
    async refresh() {
      facts.value = await by.client.metadata(locker)
    },
    async asOwner() {
      const here = [by, identity.value].find((one) => one?.address === owner)
      return here ?? askForOwner(owner)
    },
  }
}

function askForOwner(owner: string): Promise<Identity | null> {
  ownerRequest.value?.answer(null)
  return new Promise((resolve) => {
    ownerRequest.value = {
      owner,
      answer(found) {
        ownerRequest.value = null
        if (found) identity.value = found
        resolve(found)
      },
    }
  })
}
