// The key of this browser: an Ed25519 key that the page makes and the owner registers as an operator, so that a wallet
// signs once and not for each request. The browser keeps it where no script can read it, and signs with it.

import type { Signer } from '@svc/sdk/signers'
import { ROOT_URL } from '../../address.ts'

export interface BrowserKey {
  /** The owner of the lockers that it operates. */
  owner: string
  /** Its public key, base58. */
  address: string
  /** The ids of lockers that it is registered for. An id alone opens no locker. */
  lockers: readonly string[]
  /** Unix milliseconds; null for a key in memory, which is gone with the page. */
  expiresAt: number | null
  signer: Signer
}

/** The stored form. The browser never exports the private key, not even to this page. */
interface Row {
  owner: string
  address: string
  lockers: string[]
  expiresAt: number
  privateKey: CryptoKey
}

const REMEMBERED_DAYS = 30
const STORE = 'keys'

/** Keys in memory: for browsers without Ed25519 or a database, and for visitors who do not want to store a key. */
const inMemory = new Map<string, BrowserKey>()

export async function browserKeys(): Promise<BrowserKey[]> {
  return [...inMemory.values(), ...(await Promise.all((await rowsNow()).map(fromRow)))]
}

export async function browserKeyOf(lockerId: string): Promise<BrowserKey | null> {
  return (await browserKeys()).find(({ lockers }) => lockers.includes(lockerId)) ?? null
}

/** The key for the lockers of an owner: the existing one, or a new one. */
export async function prepareBrowserKey(owner: string, isRemembered: boolean): Promise<BrowserKey> {
  const known = (await browserKeys()).find((key) => key.owner === owner)
  if (known) return known
  const row = isRemembered ? await makeRow(owner).catch(() => null) : null
  if (row) return fromRow(await claim(row))
  const { signerFromSeed } = await import('@svc/sdk/signers')
  const signer = signerFromSeed(crypto.getRandomValues(new Uint8Array(32)))
  const key = { owner, address: signer.address, lockers: [], expiresAt: null, signer }
  inMemory.set(owner, key)
  return key
}

/** Records that the key was added to or removed from a locker. Without lockers, the key is deleted. */
export async function recordLocker({ owner }: BrowserKey, lockerId: string, isOperator: boolean): Promise<void> {
  const changed = (lockers: readonly string[]) => {
    const others = lockers.filter((id) => id !== lockerId)
    return isOperator ? [...others, lockerId] : others
  }
  const held = inMemory.get(owner)
  if (held) {
    const lockers = changed(held.lockers)
    if (lockers.length > 0) inMemory.set(owner, { ...held, lockers })
    else inMemory.delete(owner)
    return
  }
  await inStore('readwrite', (store) => {
    const reading = store.get(owner)
    reading.onsuccess = () => {
      const row = reading.result as Row | undefined
      if (!row) return
      const lockers = changed(row.lockers)
      if (lockers.length > 0) store.put({ ...row, lockers })
      else store.delete(owner)
    }
    return reading
  })
}

/** Deletes every key of this browser. Their operators stay registered, but no one can sign for them any more. */
export async function forgetBrowserKeys(): Promise<void> {
  inMemory.clear()
  await inStore('readwrite', (store) => store.clear()).catch(() => {})
}

async function makeRow(owner: string): Promise<Row> {
  const { toBase58 } = await import('@svc/protocol/bytes')
  const { privateKey, publicKey } = (await crypto.subtle.generateKey('Ed25519', false, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  const address = toBase58(new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)))
  return { owner, address, lockers: [], expiresAt: Date.now() + REMEMBERED_DAYS * 86_400_000, privateKey }
}

/** If two tabs create a key for the same owner at the same time, both use the first one. */
async function claim(row: Row): Promise<Row> {
  let claimed = row
  await inStore('readwrite', (store) => {
    const reading = store.get(row.owner)
    reading.onsuccess = () => {
      const before = reading.result as Row | undefined
      if (before && !isOver(before)) claimed = before
      else store.put(row)
    }
    return reading
  })
  return claimed
}

/** All rows, after expired ones are deleted. */
async function rowsNow(): Promise<Row[]> {
  try {
    const rows = await inStore<Row[]>('readwrite', (store) => {
      const reading = store.getAll()
      reading.onsuccess = () => {
        for (const row of reading.result as Row[]) if (isOver(row)) store.delete(row.owner)
      }
      return reading
    })
    return rows.filter((row) => !isOver(row))
  } catch {
    return [] // A browser without a database, or a private window.
  }
}

function isOver({ expiresAt }: Row): boolean {
  return expiresAt <= Date.now()
}

async function fromRow({ owner, address, lockers, expiresAt, privateKey }: Row): Promise<BrowserKey> {
  const { toBase58 } = await import('@svc/protocol/bytes')
  const signer: Signer = {
    address,
    async sign(message) {
      const signature = await crypto.subtle.sign('Ed25519', privateKey, message as BufferSource)
      return toBase58(new Uint8Array(signature))
    },
  }
  return { owner, address, lockers, expiresAt, signer }
}

/** Resolves when the transaction is written. Each gateway on the same host has its own database. */
function inStore<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(`svc browser keys ${ROOT_URL.pathname}`, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'owner' })
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const database = opening.result
      const transaction = database.transaction(STORE, mode)
      const request = use(transaction.objectStore(STORE))
      transaction.oncomplete = () => {
        database.close()
        resolve(request.result as T)
      }
      transaction.onabort = () => {
        database.close()
        reject(transaction.error)
      }
    }
  })
}
