// A stand-in for Google Cloud Storage with one bucket: the JSON API, signed addresses, and the services by which a
// client shows who it is, all on one port.

import { EventEmitter, on, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EMAIL, openAccount } from './account.ts'
import { type Exchange, openExchange } from './exchange.ts'
import { createFaults, type Fault } from './faults.ts'
import { serveObjects } from './json-api.ts'
import { type GcsObject, openObjects } from './objects.ts'
import { serveSigned } from './signed-url.ts'
import { createUploads } from './uploads.ts'

export interface GcsServerOptions {
  /** Where objects and the account's key are kept. */
  folder: string
  /** 0, the default, takes any free port. */
  port?: number
  /** How many names a page of a list has at most; the store's own limit is 1000. */
  pageSize?: number
  /** The time in milliseconds since 1970. */
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
  /** Resolves when the next such request has come. */
  until(at: RegExp): Promise<void>
  fail(fault: Fault): void
  /** Nothing fails any more. */
  recover(): void
  /** Tokens given out so far are good no longer. */
  revokeTokens(): void
  /** Whether IAM signs for the account; at first it does. */
  setMaySign(maySign: boolean): void
  objects(): GcsObject[]
  /** How many uploads are begun and neither finished nor cancelled. */
  openUploads(): number
  stop(): Promise<void>
}

const bucket = 'svc-demo-files'

export async function startGcsServer(options: GcsServerOptions): Promise<GcsServer> {
  const { folder, port = 0, pageSize = 1000, now = Date.now } = options
  const objects = await openObjects(folder)
  const account = await openAccount(folder)
  const faults = createFaults()
  const requests: string[] = []
  const arrivals = new EventEmitter()
  // An upload may take longer than the five minutes that are usual.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: boundPort } = server.address() as AddressInfo // a listening TCP server has one
  const url = `http://127.0.0.1:${boundPort}`
  const uploads = createUploads(objects, bucket, url)

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', url)
    const line = `${request.method} ${target.pathname}${target.search}`
    requests.push(line)
    arrivals.emit('request', line)
    const mishap = faults.strike(line)
    const exchange = openExchange(request, response, target, mishap)
    if (mishap === 'silence') return void request.resume()
    if (mishap === 'nonsense') return exchange.answer(200, '<html>')
    if (typeof mishap === 'object' && mishap && 'status' in mishap) {
      return exchange.refuse(mishap.status, mishap.reason ?? 'backendError', 'as told')
    }
    if (typeof mishap === 'object' && mishap && 'claimKept' in mishap) {
      const range = mishap.claimKept > 0 ? { range: `bytes=0-${mishap.claimKept - 1}` } : {}
      return exchange.answer(308, '', range)
    }
    await answer(exchange)
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = exchange.url
    if (pathname === '/token') return account.giveToken(exchange)
    if (pathname.startsWith('/computeMetadata/')) return account.giveMetadata(exchange)
    if (pathname.endsWith(':signBlob')) return account.signBlob(exchange)
    // The address of a session is itself the permission to use it.
    if (pathname.startsWith('/upload/') && searchParams.has('upload_id')) return uploads.proceed(exchange)
    if (searchParams.has('X-Goog-Signature')) {
      return serveSigned(exchange, objects, { bucket, publicKey: account.publicKey, now })
    }
    if (!account.isLetIn(exchange)) return exchange.refuse(401, 'authError', 'Invalid Credentials')
    if (pathname.startsWith('/upload/')) return uploads.begin(exchange)
    return serveObjects(exchange, objects, { bucket, pageSize })
  }

  return {
    url,
    port: boundPort,
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
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
