// A store to which clients upload, and from which they download, directly by signed addresses that expire, like object
// stores.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { type ObjectKey, ProviderError, type StorageProvider } from '../src/provider.ts'

interface Terms {
  contentType: string
  expiresInSeconds: number
}

export interface RedirectingStore {
  url: string
  /** Accepts one PUT, with exactly this Content-Type. */
  uploadUrl(id: string, terms: Terms): string
  /** Answers GET with the object, with this Content-Type. */
  downloadUrl(key: ObjectKey, terms: Terms): string
  stop(): Promise<void>
}

interface StoreOptions {
  /** Stores the objects. */
  provider: StorageProvider
  /** The time in milliseconds since 1970. */
  now?: () => number
}

/** Everything that the signature of an address covers. */
interface Permission {
  method: 'GET' | 'PUT'
  key: ObjectKey
  contentType: string
  /** Unix seconds; the address is valid before this time. */
  expires: number
}

export async function startRedirectingStore({ provider, now = Date.now }: StoreOptions): Promise<RedirectingStore> {
  const secret = randomBytes(32)
  // Clients close connections, so that no request uses a connection that is being closed.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    const permission = readPermission(secret, request)
    if (!permission || now() >= permission.expires * 1000) return refuse(response, 403)
    const answer = permission.method === 'PUT' ? takeBytes : giveBytes
    answer(provider, permission, request, response).catch((error) => fail(request, response, error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has one

  function address(method: Permission['method'], key: ObjectKey, { contentType, expiresInSeconds }: Terms): string {
    const expires = Math.floor(now() / 1000) + expiresInSeconds
    const signature = sign(secret, { method, key, contentType, expires })
    const query = { expires: `${expires}`, type: contentType, ...(key.ref !== null && { ref: key.ref }), signature }
    return `${url}/${key.id}?${new URLSearchParams(query)}`
  }

  return {
    url,
    uploadUrl: (id, terms) => address('PUT', { id, ref: null }, terms),
    downloadUrl: (key, terms) => address('GET', key, terms),
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The provider, with its clients redirected to the store. The store uses the same provider for its objects. */
export function redirecting(provider: StorageProvider, store: RedirectingStore): StorageProvider {
  return {
    ...provider,
    uploadHeaders: () => ({}),
    async uploadTarget(id, upload) {
      return { url: store.uploadUrl(id, upload), headers: { 'content-type': upload.contentType } }
    },
    async downloadTarget(key, download) {
      return { url: store.downloadUrl(key, download), headers: {} }
    },
  }
}

function sign(secret: Buffer, { method, key, contentType, expires }: Permission): string {
  const text = JSON.stringify([method, key.id, key.ref, contentType, expires])
  return createHmac('sha256', secret).update(text).digest('hex')
}

function readPermission(secret: Buffer, request: IncomingMessage): Permission | null {
  const url = URL.parse(request.url ?? '', 'http://store')
  if (!url) return null
  const { pathname, searchParams } = url
  const permission: Permission = {
    method: request.method as Permission['method'], // others are not signed for
    key: { id: pathname.slice(1), ref: searchParams.get('ref') },
    contentType: searchParams.get('type') ?? '',
    expires: Number(searchParams.get('expires')),
  }
  const signature = Buffer.from(searchParams.get('signature') ?? '')
  const expected = Buffer.from(sign(secret, permission))
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? permission : null
}

async function takeBytes(
  provider: StorageProvider,
  { key, contentType }: Permission,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.headers['content-type'] !== contentType) return refuse(response, 403)
  // A client that still has the address must not replace the object.
  if (await provider.stat(key)) return refuse(response, 412)
  const length = request.headers['content-length']
  await provider.write(key.id, request, { contentType, size: length === undefined ? null : Number(length) })
  response.end()
}

async function giveBytes(
  provider: StorageProvider,
  { key, contentType }: Permission,
  _: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [found, bytes] = [await provider.stat(key), await provider.read(key)]
  if (!found || !bytes) return refuse(response, 404)
  response.writeHead(200, { 'content-type': contentType, 'content-length': found.size })
  await pipeline(bytes, response)
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

/** Ends an answer that has begun. */
function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  request.resume() // a client that still sends would not read the answer
  refuse(response, error instanceof ProviderError ? (error.reason === 'full' ? 507 : 503) : 500)
}
