// A stand-in for Storj's S3 gateway with one bucket: objects, multipart uploads, listings and signed URLs.

import { type Exchange, Refusal } from '../http/exchange.ts'
import { createFaults, type FaultPlan } from '../http/faults.ts'
import { startProviderServer } from '../http/server.ts'
import { openObjects, type StoredObject } from './objects.ts'
import { element, serveBucket, serveObject, serveUpload } from './serve.ts'
import { type Credentials, requireSignature } from './signature.ts'
import { createUploads, type Upload } from './uploads.ts'

export interface S3BucketServerOptions {
  /** Keeps the objects. */
  folder: string
  bucket?: string
  /** 0, the default, takes any free port. */
  port?: number
  /** Keys or uploads per page of a listing. */
  pageSize?: number
  /** Behaves like older stores, which ignore `If-None-Match` and overwrite. */
  ignoresPreconditions?: boolean
  /** Unix milliseconds. */
  now?: () => number
}

export interface S3BucketServer {
  url: string
  port: number
  bucket: string
  credentials: Credentials
  /** Every request so far, as `METHOD /path?query`. */
  readonly requests: readonly string[]
  fail(plan: FaultPlan): void
  /** Removes all faults. */
  recover(): void
  objects(): StoredObject[]
  /** Multipart uploads that are neither completed nor aborted. */
  uploads(): Upload[]
  stop(): Promise<void>
}

const CREDENTIALS: Credentials = {
  accessKeyId: 'jvdemoaccesskeyofthelocalstore',
  secretAccessKey: 'jzdemosecretofthelocalstorewhicheverybodymayknow',
  region: 'us-east-1',
}

export async function startS3BucketServer(options: S3BucketServerOptions): Promise<S3BucketServer> {
  const { folder, bucket = 'svc-demo-files', port = 0, pageSize = 1000, now = Date.now } = options
  const objects = await openObjects(folder)
  const uploads = createUploads(objects)
  const faults = createFaults()
  const requests: string[] = []

  async function serve(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = exchange.url
    const [, requestedBucket, key = ''] = /^\/([^/]*)\/?(.*)$/.exec(pathname) ?? []
    if (requestedBucket !== bucket) throw new Refusal(404, 'NoSuchBucket')
    const mustBeNew = exchange.headers['if-none-match'] === '*' && !options.ignoresPreconditions
    if (key === '') return serveBucket(exchange, objects, uploads, pageSize)
    if (searchParams.has('uploads') || searchParams.has('uploadId')) {
      return serveUpload(exchange, objects, uploads, key, mustBeNew)
    }
    return serveObject(exchange, objects, key, mustBeNew)
  }

  const server = await startProviderServer({
    faults,
    requests,
    port,
    authorize: (exchange) => requireSignature(exchange, CREDENTIALS, now()),
    serve,
    refuse(exchange, { status, code }) {
      exchange.answer(status, {}, exchange.method === 'HEAD' ? '' : element('Error', { Code: code }))
    },
  })
  return {
    url: server.url,
    port: server.port,
    bucket,
    credentials: CREDENTIALS,
    requests,
    fail: faults.add,
    recover: faults.clear,
    objects: objects.list,
    uploads: uploads.list,
    stop: server.stop,
  }
}
