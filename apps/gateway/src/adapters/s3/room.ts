import { lru } from '@svc/concurrency/caches'
import { deriveSigningKey, type SigningKeyOf, scopeText } from '@svc/s3/signature'
import { createLockerFinder, type FindLocker } from '../../auth/store.ts'
import type { HttpContext } from '../http/room.ts'
import { createCredentialKeys } from './credentials/credential-keys.ts'
import type { CredentialsContext } from './credentials/find-credential.ts'
import { createKeyUse, type NoteKeyUse } from './credentials/key-use.ts'
import { createKeyFinder } from './credentials/store.ts'

export interface S3Context extends HttpContext, CredentialsContext {
  signingKeyOf: SigningKeyOf
  findLocker: FindLocker
  noteKeyUse: NoteKeyUse
}

export function createS3(http: HttpContext): S3Context {
  return {
    ...http,
    credentialKeys: createCredentialKeys(http.signers.shortUrl),
    findKey: createKeyFinder(http.database.db),
    signingKeyOf: cachedSigningKeys(),
    findLocker: createLockerFinder(http.database.db),
    noteKeyUse: createKeyUse(http),
  }
}

const SIGNING_KEYS = 1000

/** Deriving one takes as long as the rest of a signature. */
function cachedSigningKeys(): SigningKeyOf {
  const cache = lru<string, Buffer>(SIGNING_KEYS)
  return (secret, authorization) => {
    const name = `${secret}/${scopeText(authorization)}`
    const known = cache.get(name)
    if (known) return known
    const key = deriveSigningKey(secret, authorization)
    cache.set(name, key)
    return key
  }
}
