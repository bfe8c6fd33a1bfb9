// A stand-in for Google Cloud Storage with one bucket: the JSON API, signed URLs, and the services that authenticate
// clients, all on one port.

import { EventEmitter, on } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startHttpServer } from '../../http-server.ts'
import { createFaults } from '../http/faults.ts'
import { EMAIL, openAccount } from './account.ts'
import { type Exchange, openExchange } from './exchange.ts'
import type { Fault, FaultPlan } from './faults.ts'
import { serveObjects } from './json-api.ts'
import { type GcsObject, openObjects } from './objects.ts'
import { serveSigned } from './signed-url.ts'
import { createUploads } from './uploads.ts'

export interface GcsServerOptions {
  /** Keeps the objects and the account's key. */
  folder: string
  /** 0, the default, takes any free port. */
  port?: number
  /** Names per page of a listing; the real store allows up to 1000. */
  pageSize?: number
  /** Unix milliseconds. */
  now?: () => number
}

export interface GcsServer {
  url: string
  port: number
  bucket: string
  email: string
  /** The account's key file, as JSON. */
  keyFile: string
  /** Every request so far, as `METHOD /path?query`. */
  readonly requests: readonly string[]
  /** Resolves when the next matching request arrives. */
  until(at: RegExp): Promise<void>
  fail(plan: FaultPlan): void
  /** Removes all faults. */
  recover(): void
  /** Invalidates all tokens issued so far. */
  revokeTokens(): void
  /** Whether IAM signs for the account; it does by default. */
  setMaySign(maySign: boolean): void
  objects(): GcsObject[]
  /** How many uploads are neither finished nor cancelled. */
  openUploads(): number
  stop(): Promise<void>
}

const bucket = 'svc-demo-files'

export async function startGcsServer(options: GcsServerOptions): Promise<GcsServer> {
  const { folder, port = 0, pageSize = 1000, now = Date.now } = options
  const objects = await openObjects(folder)
  const account = await openAccount(folder)
  const faults = createFaults<Fault>()
  const requests: string[] = []
  const arrivals = new EventEmitter()
  const server = await startHttpServer(handle, { port, requestTimeout: 0 })
  const { url } = server
  const uploads = createUploads(objects, bucket, url)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', url)
    const line = `${request.method} ${target.pathname}${target.search}`
    requests.push(line)
    arrivals.emit('request', line)
    const fault = faults.take(line)
    const exchange = openExchange(request, response, target, fault)
    if (fault === 'silence') return void request.resume()
    if (fault === 'invalid response') return exchange.answer(200, '<html>')
    if (typeof fault === 'object' && fault && 'status' in fault) {
      return exchange.refuse(fault.status, fault.reason ?? 'backendError', 'planned by the test')
    }
    if (typeof fault === 'object' && fault && 'claimKept' in fault) {
      const range = fault.claimKept > 0 ? { range: `bytes=0-${fault.claimKept - 1}` } : {}
      return exchange.answer(308, '', range)
    }
    await serve(exchange)
  }

  async function serve(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = exchange.url
    if (pathname === '/token') return account.serveToken(exchange)
    if (pathname.startsWith('/computeMetadata/')) return account.serveMetadata(exchange)
    if (pathname.endsWith(':signBlob')) return account.signBlob(exchange)
    // Knowing a session's URL is the permission to use it.
    if (pathname.startsWith('/upload/') && searchParams.has('upload_id')) return uploads.proceed(exchange)
    if (searchParams.has('X-Goog-Signature')) {
      return serveSigned(exchange, objects, { bucket, publicKey: account.publicKey, now })
    }
    if (!account.isAuthorized(exchange)) return exchange.refuse(401, 'authError', 'Invalid Credentials')
    if (pathname.startsWith('/upload/')) return uploads.begin(exchange)
    return serveObjects(exchange, objects, { bucket, pageSize })
  }

  return {
    url,
    port: server.port,
    bucket,
    email: EMAIL,
    keyFile: account.keyFile(url),
    requests,
    async until(at) {
      for await (const [line] of on(arrivals, 'request')) if (at.test(line)) return
    },
    fail: faults.add,
    recover: faults.clear,
    revokeTokens: account.revokeTokens,
    setMaySign: account.setMaySign,
    objects: objects.list,
    openUploads: uploads.count,
    stop: server.stop,
  }
}
