// Access key ids of long-lived keys. Their last characters are derived from the others, so that guesses are rejected
// without a query.

import { type CredentialKeys, keyIdCharacters } from './credential-keys.ts'

const PREFIX = 'SVCK'
const RANDOM_CHARACTERS = 11
const MARK_CHARACTERS = 5

export function newKeyId(keys: CredentialKeys, randomBytes: (length: number) => Uint8Array): string {
  const random = PREFIX + keyIdCharacters(randomBytes(RANDOM_CHARACTERS))
  return random + keys.mark(random, MARK_CHARACTERS)
}

/** Checks only the form. */
export function isLongLived(id: string): boolean {
  return id.startsWith(PREFIX)
}

/** Whether this gateway created the id. */
export function isKeyId(keys: CredentialKeys, id: string): boolean {
  const random = id.slice(0, -MARK_CHARACTERS)
  return (
    isLongLived(id) &&
    id.length === PREFIX.length + RANDOM_CHARACTERS + MARK_CHARACTERS &&
    id === random + keys.mark(random, MARK_CHARACTERS)
  )
}
