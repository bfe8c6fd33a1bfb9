// Asks for tus tokens and sends raw requests of the protocol.

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TusToken } from '@svc/api/tus'
import type { Identity, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'

type Headers = Record<string, string>

export interface TusReply {
  status: number
  headers: Headers
  error: string | null
  text: string
}

export const CHUNK = { 'content-type': 'application/offset+octet-stream' }

export async function tusToken(
  locker: TestLocker,
  request: { ttl_min?: number; prefix?: string; overwrite?: boolean } = {},
  who?: Identity,
): Promise<string> {
  const made = await locker.call<TusToken>(['locker:write'], 'POST', '/tus/tokens', request, who)
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  return made.body.headers['X-Upload-Token']
}

/** A request with the version of the protocol, unless the headers override it; '' leaves a header out. */
export async function send(
  url: string,
  method: string,
  headers: Headers = {},
  body?: Uint8Array | string,
): Promise<TusReply> {
  const all = Object.entries({ 'tus-resumable': '1.0.0', ...headers }).filter(([, value]) => value !== '')
  const sent = request(url, { method, headers: Object.fromEntries(all) }).on('error', () => {})
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage]
  const answer = await text(response)
  const { error = null } = answer.startsWith('{') ? (JSON.parse(answer) as { error?: string }) : {}
  return { status: response.statusCode ?? 0, headers: response.headers as Headers, error, text: answer }
}

export function metadata(pairs: Record<string, string>): Headers {
  const text = Object.entries(pairs).map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
  return { 'upload-metadata': text.join(',') }
}

export const creationHeaders = (length: number, pairs: Record<string, string>): Headers => ({
  'upload-length': `${length}`,
  ...metadata(pairs),
})

export type TestUpload = Awaited<ReturnType<typeof create>>

/** Replaces the public address in a URL of the gateway with the address where it listens. */
export function here({ gateway }: TestGateway, url: string): string {
  return gateway.url + new URL(url).pathname
}

export async function create(
  instance: TestGateway,
  locker: TestLocker,
  token: string,
  headers: Headers,
  body?: Uint8Array | string,
) {
  const endpoint = `${instance.gateway.url}/v1/lockers/${locker.lockerId}/tus`
  const created = await send(endpoint, 'POST', { 'x-upload-token': token, ...headers }, body)
  expect(created.status, created.text).toBe(201)
  const url = here(instance, created.headers.location as string)
  return {
    url,
    created,
    patch: (offset: number, bytes: Uint8Array | string, more: Headers = {}) =>
      send(url, 'PATCH', { ...CHUNK, 'upload-offset': `${offset}`, ...more }, bytes),
    head: () => send(url, 'HEAD'),
  }
}
