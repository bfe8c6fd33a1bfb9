import { wholeNumber } from '../http/answer.ts'
import { ProviderError } from '../provider.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'

interface FoundObject {
  size: number
  /** Of the write that made it; null where a client made it by itself. */
  mark: string | null
}

/** Every write leaves a mark of its own on its object. */
export const MARK_HEADER = 'x-amz-meta-svc-write'

/** Null when there is no such object, or no bucket: HEAD does not say which. */
export async function findObject(store: Store, key: string): Promise<FoundObject | null> {
  try {
    const { headers } = await store.ask({ method: 'HEAD', key })
    return { size: wholeNumber(headers['content-length']), mark: headers[MARK_HEADER]?.toString() ?? null }
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null
    throw error
  }
}

/** That an object is not there means nothing while its bucket is not. */
export async function requireBucket(store: Store): Promise<void> {
  try {
    await store.ask({ method: 'HEAD' })
  } catch (error) {
    throw error instanceof Refusal && error.status === 404 ? new ProviderError('closed', error.cause) : error
  }
}
