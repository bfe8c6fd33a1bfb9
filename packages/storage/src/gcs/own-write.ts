// Every write leaves a mark of its own on its object. By it a write whose answer was lost knows its object from
// another's under the same id.

import { randomUUID } from 'node:crypto'
import { ProviderError } from '../provider.ts'
import type { GcsStore } from './bucket.ts'

export interface OwnWrite {
  name: string
  contentType: string
  mark: string
}

export function newWrite(name: string, contentType: string): OwnWrite {
  return { name, contentType, mark: randomUUID() }
}

/** What the object is to be, as the store wants it told. */
export function metadataOf({ name, contentType, mark }: OwnWrite): string {
  return JSON.stringify({ name, contentType, metadata: { 'svc-write': mark } })
}

/** Ids are random, so this is a mistake of the caller and no trouble of the store. */
export function idIsTaken(): Error {
  return new Error('there is an object with this id')
}

export async function isThere(store: GcsStore, { name, mark }: OwnWrite): Promise<boolean> {
  return (await store.find(name))?.mark === mark
}

/** After trouble that may have come too late. What went wrong before matters more than a failure of this. */
export async function takeBack(store: GcsStore, { name, mark }: OwnWrite, failure: unknown): Promise<void> {
  if (!(failure instanceof ProviderError && failure.reason === 'unavailable')) return
  try {
    const found = await store.find(name)
    if (found?.mark === mark) await store.remove(name, found.generation)
  } catch {}
}
