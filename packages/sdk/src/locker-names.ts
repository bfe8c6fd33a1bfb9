// The rules for names that people give to lockers.

export { lockerName, NAME_TAG, operatorName } from '@svc/api/locker-names'

/** A tag has 64 characters, and the prefix is five of them. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+-]{0,58}$/u
const LIKE_AN_ID = /^(rcpt|locker)_/

/**
 * Why a locker or an operator cannot have this name, or null. A name must be easy to type and display, and must not look like an id.
 */
export function nameObjection(name: string): string | null {
  if (NAME.test(name) && !LIKE_AN_ID.test(name)) return null
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return (
    `${JSON.stringify(shown)} cannot be a name: a name has 1 to 59 letters, digits, spaces and . _ @ + -, ` +
    'and must begin with a letter or a digit, but not with rcpt_ or locker_'
  )
}
