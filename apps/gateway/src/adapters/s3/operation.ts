import type { Bytes } from '@svc/service/http/answer'
import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import type { S3Caller } from './caller.ts'
import type { S3Credential } from './credentials/find-credential.ts'
import type { S3Request } from './request.ts'

export type S3Operation = (context: Context, request: S3Request, caller: S3Caller) => Promise<Bytes>

export interface Verb {
  operation: S3Operation
  needs: 'read' | 'write'
}

/** The scope of a request that names no bucket: the lockers that a credential opens, by bucket name. */
interface S3Service {
  presented: S3Credential
  buckets: ReadonlyMap<string, Locker>
}

export interface ServiceVerb {
  operation: (context: Context, request: S3Request, service: S3Service) => Promise<Bytes>
}

/**
 * The key is the method, the resource (`bucket`, `object` or `folder`, which defaults to `object`), a subresource of
 * the query, and whether the request copies an object: `GET bucket`, `GET object?acl`, `PUT object copy`.
 */
export type Verbs = Readonly<Record<string, Verb>>
