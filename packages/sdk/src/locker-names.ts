// Which names people can give lockers.

export { lockerName, NAME_TAG } from '@svc/api/locker-names'

/** A tag has 64 characters, and the prefix is five of them. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+-]{0,58}$/u
const LIKE_AN_ID = /^(rcpt|locker)_/

/** Why a locker cannot have this name; null when it can: it can be typed and shown as it is, and is not like an id. */
export function nameObjection(name: string): string | null {
  if (NAME.test(name) && !LIKE_AN_ID.test(name)) return null
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return (
    `a locker cannot be called ${JSON.stringify(shown)}: its name has 1 to 59 letters, digits, spaces and . _ @ + -, ` +
    'begins with a letter or a digit, and not with rcpt_ or locker_'
  )
}
