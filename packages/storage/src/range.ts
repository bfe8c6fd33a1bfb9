import { type ByteRange, ProviderError } from './provider.ts'

/** What begins after its end is a mistake of the caller; what goes past the end of an object is not. */
export function requireRange({ start, end }: ByteRange, size = Number.POSITIVE_INFINITY): void {
  if (!(start >= 0 && start <= end)) throw new RangeError('a range ends before it begins')
  if (end >= size) throw pastTheEnd()
}

/** Whoever asks for a range has looked how long the object is: the provider has another one now than it had then. */
export function pastTheEnd(): ProviderError {
  return new ProviderError('unavailable', new Error('the range is not within the object'))
}
