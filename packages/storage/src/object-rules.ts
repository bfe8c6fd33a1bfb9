// Rules of the provider interface that every driver checks: ids, ranges and sizes.

import { isHex } from '@svc/protocol/bytes'
import { type ByteRange, type ObjectFacts, ProviderError } from './provider.ts'

/** An id becomes part of a path or an address, so no other text is allowed. */
export function requireObjectId(id: string): string {
  if (!isHex(id, 16)) throw new RangeError('an object id is 32 lowercase hex characters')
  return id
}

/** Ids are random, so this is a mistake of the caller and not a failure of the provider. */
export function idTaken(cause?: unknown): Error {
  return new Error('an object with this id already exists', { cause })
}

/** A range that begins after its end is a mistake of the caller; one that exceeds the object is not. */
export function requireRange({ start, end }: ByteRange, size = Number.POSITIVE_INFINITY): void {
  if (!(start >= 0 && start <= end)) throw new RangeError('a range ends before it begins')
  if (end >= size) throw rangePastEnd()
}

/** The caller has looked up the size of the object, so the provider's object has changed since. */
export function rangePastEnd(): ProviderError {
  return new ProviderError('unavailable', 'the range is not within the object')
}

export function requireSizeAtMost(maxBytes: number, size: number | null): void {
  if (size !== null && size > maxBytes)
    throw new RangeError(`the provider accepts at most ${maxBytes} bytes in one object`)
}

export function wrongSize(): RangeError {
  return new RangeError('the source does not have its declared size')
}

export function tooLarge(): RangeError {
  return new RangeError('the source is larger than allowed')
}

/** The size of an object as headers and documents state it. */
export function parseSize(text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ProviderError('unavailable', 'the provider does not state the size of an object')
}

/** `encoding`: as the provider states it. */
export function objectFacts({ size, encoding }: { size: number; encoding: string | undefined }): ObjectFacts {
  const isEncoded = encoding !== undefined && encoding !== '' && encoding !== 'identity'
  return isEncoded ? { size, isEncoded } : { size }
}
