// By the mark on an object, a write whose answer was lost knows its own from another's under the same id.

import { randomUUID } from 'node:crypto'
import { ProviderError } from '../provider.ts'
import { findObject, MARK_HEADER } from './find-object.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'

export interface OwnWrite {
  key: string
  mark: string
  /** What the object is to be. */
  headers: Record<string, string>
}

/** A write with it changes nothing that is there. */
export const ONLY_IF_NEW = { 'if-none-match': '*' }

export function newWrite(key: string, contentType: string): OwnWrite {
  const mark = randomUUID()
  return { key, mark, headers: { 'content-type': contentType, [MARK_HEADER]: mark } }
}

/** Some stores take the precondition of a write and overwrite all the same; and here nothing has been sent yet. */
export async function refuseTaken(store: Store, { key }: OwnWrite): Promise<void> {
  if (await findObject(store, key)) throw idIsTaken()
}

/** Says how large the object is. Trouble counts for nothing where the object is there in spite of it. */
export async function carryOut(store: Store, { key, mark }: OwnWrite, put: () => Promise<number>): Promise<number> {
  try {
    return await put()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const found = await findObject(store, key).catch(() => null)
    if (found?.mark === mark) return found.size
    throw isPrecondition(error) ? idIsTaken() : error
  }
}

function isPrecondition(error: ProviderError): boolean {
  return error instanceof Refusal && (error.status === 412 || error.code === 'ConditionalRequestConflict')
}

/** Ids are random, so this is a mistake of the caller and no trouble of the store. */
function idIsTaken(): Error {
  return new Error('there is an object with this id')
}
