import { lru } from '@svc/concurrency/caches'
import { deriveSigningKey, type SigningKeyOf, scopeText } from '@svc/s3/signature'
import { createLockerFinder, type FindLocker } from '../../auth/store.ts'
import type { Context } from '../../context.ts'
import { type CredentialKeys, createCredentialKeys } from './credentials/credential-keys.ts'
import { createKeyUse, type RecordKeyUse } from './credentials/key-use.ts'
import { createKeyFinder, type FindKey } from './credentials/store.ts'

interface S3State {
  credentialKeys: CredentialKeys
  findKey: FindKey
  signingKeyOf: SigningKeyOf
  findLocker: FindLocker
  recordKeyUse: RecordKeyUse
}

declare module '../../context.ts' {
  interface Context extends S3State {}
}

export function openS3(context: Context): S3State {
  return {
    credentialKeys: createCredentialKeys(context.signers.shortUrl),
    findKey: createKeyFinder(context.database.db),
    signingKeyOf: cachedSigningKeys(),
    findLocker: createLockerFinder(context.database.db),
    recordKeyUse: createKeyUse(context),
  }
}

const SIGNING_KEYS = 1000

/** Deriving a key takes as long as the rest of the signature. */
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
