// A stand-in for Storj's S3 gateway with one bucket: objects, uploads in parts, listings and signed addresses.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import { type Exchange, openExchange } from '../http/exchange.ts'
import { createFaults, type Fault } from '../http/faults.ts'
import { openObjects, type StoredObject } from './objects.ts'
import { serveBucket } from './serve-bucket.ts'
import { serveObject } from './serve-object.ts'
import { serveUpload } from './serve-upload.ts'
import { type Credentials, requireSignature } from './signature.ts'
import { StoreError } from './store-error.ts'
import { createUploads, type Upload } from './uploads.ts'
import { element } from './xml.ts'

export interface StorjServerOptions {
  /** Where objects are kept. */
  folder: string
  bucket?: string
  /** 0, the default, takes any free port. */
  port?: number
  /** Keys in a page of a listing. */
  pageSize?: number
  /** As older stores, which take `If-None-Match` and overwrite all the same. */
  ignoresPreconditions?: boolean
  /** The time in milliseconds since 1970. */
  now?: () => number
}

export interface StorjServer {
  url: string
  port: number
  bucket: string
  credentials: Credentials
  /** Every request so far, as `METHOD /path?query`. */
  readonly requests: readonly string[]
  fail(fault: Fault): void
  /** Nothing fails any more. */
  recover(): void
  objects(): StoredObject[]
  /** Begun, and neither completed nor aborted. */
  uploads(): Upload[]
  stop(): Promise<void>
}

const CREDENTIALS: Credentials = {
  accessKeyId: 'jvdemoaccesskeyofthelocalstore',
  secretAccessKey: 'jzdemosecretofthelocalstorewhicheverybodymayknow',
  region: 'us-east-1',
}

export async function startStorjServer(options: StorjServerOptions): Promise<StorjServer> {
  const { folder, bucket = 'svc-demo-files', port = 0, pageSize = 1000, now = Date.now } = options
  const objects = await openObjects(folder)
  const uploads = createUploads(objects)
  const faults = createFaults()
  const requests: string[] = []
  // An upload may take longer than the five minutes that are usual.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 })
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch(() => response.destroy())
  server.on('request', receive)
  server.on('checkContinue', receive)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: boundPort } = server.address() as AddressInfo // a listening TCP server has one
  const url = `http://127.0.0.1:${boundPort}`

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`
    requests.push(line)
    const mishap = faults.strike(line)
    if (mishap === 'silence') return
    const exchange = openExchange(request, response, new URL(request.url ?? '/', url), mishap)
    try {
      const refusal = typeof mishap === 'object' && mishap && 'status' in mishap ? mishap : null
      if (refusal && !refusal.afterBody) throw new StoreError(refusal.status, refusal.code)
      requireSignature(exchange, CREDENTIALS, now())
      if (request.headers.expect) response.writeContinue()
      if (!refusal) return await answer(exchange)
      await finished(request.resume())
      throw new StoreError(refusal.status, refusal.code)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      exchange.answer(error.status, {}, request.method === 'HEAD' ? '' : element('Error', { Code: error.code }))
    }
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = exchange.url
    const [, asked, key = ''] = /^\/([^/]*)\/?(.*)$/.exec(pathname) ?? []
    if (asked !== bucket) throw new StoreError(404, 'NoSuchBucket')
    const mustBeNew = exchange.headers['if-none-match'] === '*' && !options.ignoresPreconditions
    if (key === '') return serveBucket(exchange, objects, uploads, pageSize)
    if (searchParams.has('uploads') || searchParams.has('uploadId')) {
      return serveUpload(exchange, objects, uploads, key, mustBeNew)
    }
    return serveObject(exchange, objects, key, mustBeNew)
  }

  return {
    url,
    port: boundPort,
    bucket,
    credentials: CREDENTIALS,
    requests,
    fail: faults.add,
    recover: faults.clear,
    objects: objects.list,
    uploads: uploads.list,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
