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

/** What a request that names no bucket is about: the lockers that a credential opens, by the names of their buckets. */
interface S3Service {
  held: S3Credential
  buckets: ReadonlyMap<string, Locker>
}

export interface ServiceVerb {
  operation: (context: Context, request: S3Request, service: S3Service) => Promise<Bytes>
}

/**
 * By method, by what a request is about (`bucket`, `object`, or `folder`, which is an object unless said otherwise), by a
 * subresource of its query, and by whether it names an object to copy: `GET bucket`, `GET object?acl`, `PUT object copy`.
 */
export type Verbs = Readonly<Record<string, Verb>>
