import type { Bytes } from '@svc/http-service/answer'
import type { S3Caller } from './caller.ts'
import type { S3Request } from './request.ts'
import type { S3Context } from './room.ts'

export type S3Operation = (context: S3Context, request: S3Request, caller: S3Caller) => Promise<Bytes>

export interface Verb {
  operation: S3Operation
  needs: 'read' | 'write'
}

/**
 * By method, by what a request is about (`service`, `bucket`, `object`, or `folder`, which is an object unless said
 * otherwise), by a subresource of its query, and by whether it names an object to copy: `GET bucket`, `GET object?acl`,
 * `PUT object copy`.
 */
export type Verbs = Readonly<Record<string, Verb>>
