import { DecryptionError } from '../errors.ts'

export function damaged(what: string): DecryptionError {
  return new DecryptionError('damaged', `this is not a complete age file: ${what}`)
}
