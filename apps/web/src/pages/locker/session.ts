// Who acts in this page: an identity that unlocked it, and a session for the locker that is open. All of it is in
// memory; what a browser keeps is in `browser-key.ts`.

import { type Signal, signal } from '@preact/signals'
import type { LockerMetadata } from '@svc/api/lockers'
import type { Client, Locker } from '@svc/sdk'
import type { Signer } from '@svc/sdk/signers'
import { createSignedClient } from '../../signed-client.ts'
import { type BrowserKey, noteLocker, prepareBrowserKey } from './browser-key.ts'

/** A wallet asks its user for each signature; a key that was opened here, or that the browser keeps, does not. */
type IdentityKind = 'wallet' | 'key' | 'browser'

export interface Identity {
  kind: IdentityKind
  /** Of the wallet; null for keys. */
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
  /** Of what signs. */
  address: string
  kind: IdentityKind
  /** Of the wallet; null for keys. */
  name: string | null
  role: 'owner' | 'operator'
  /** Whether requests need no click in a wallet. What is only convenient, such as reading again, is then free. */
  isSilent: boolean
  /** What the gateway last said of the locker. */
  facts: Signal<LockerMetadata>
  /** Reads the facts again. */
  refresh(): Promise<void>
  /**
   * Whoever may attest, publish and manage. Asks for the owner's wallet or key if that is not here; null if declined.
   */
  asOwner(): Promise<Identity | null>
}

/** The wallet or key that unlocked the page. */
export const identity = signal<Identity | null>(null)

const endings = new Set<() => void>()

/** What must not outlive a session that is closed, such as keys and uploads (T-68). */
export function endWithLock(end: () => void): void {
  endings.add(end)
}

export function endSession(): void {
  for (const end of endings) end()
}

/** Forgets who unlocked the page, too. */
export function lock(): void {
  identity.value = null
  endSession()
}

/** While the owner is asked for: shown as a dialog. */
export const ownerRequest = signal<{ owner: string; answer: (owner: Identity | null) => void } | null>(null)

/**
 * Receipts that were typed, followed or listed here, by locker: one that is not open yet is opened with its receipt.
 */
export const knownReceipts = new Map<string, { receiptId: string; isUnopened: boolean }>()

export async function createIdentity(
  { kind, name }: Pick<Identity, 'kind' | 'name'>,
  signer: Signer,
): Promise<Identity> {
  return { kind, name, address: signer.address, signer, client: await createSignedClient(signer) }
}

/** Opens a locker as this identity: one signature. */
export async function openLocker(by: Identity, lockerId: string): Promise<LockerSession> {
  const facts = await by.client.metadata({ locker_id: lockerId, receipt_id: '' })
  const { lockerOf, UntrueAnswer } = await import('@svc/sdk')
  if (facts.locker_id !== lockerId || lockerOf(facts.receipt_id).locker_id !== lockerId)
    throw new UntrueAnswer('the locker is another one')
  return createSession(by, facts)
}

/** Has the owner register the key of this browser, and opens the locker with that: one signature of the owner. */
export async function openWithBrowserKey(owner: Identity, lockerId: string, isKept: boolean): Promise<LockerSession> {
  const key = await prepareBrowserKey(owner.address, isKept)
  await owner.client.addOperator({ locker_id: lockerId, receipt_id: '' }, key.address)
  await noteLocker(key, lockerId, true)
  return continueWith(key, lockerId)
}

export interface Opening {
  name: string
  /** Whether the key of this browser is registered with the same signature, and whether it stays. */
  withBrowserKey: boolean
  isKept: boolean
}

/** Opens a locker that was paid for: one signature of a wallet with the key of this browser, two without. */
export async function openPaidLocker(owner: Identity, receiptId: string, opening: Opening): Promise<LockerSession> {
  const { namedTags } = await import('@svc/sdk')
  const { name, withBrowserKey, isKept } = opening
  const key = withBrowserKey ? await prepareBrowserKey(owner.address, isKept) : null
  const tags = namedTags([], name.trim() || null)
  const { locker_id } = await owner.client.provision(receiptId, {
    ...(tags && { tags }),
    ...(key && { operator: key.address }),
  })
  knownReceipts.delete(locker_id)
  if (!key) return openLocker(owner, locker_id)
  await noteLocker(key, locker_id, true)
  return continueWith(key, locker_id)
}

/** Opens a locker with a key that the browser has: no signature of a wallet. */
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
