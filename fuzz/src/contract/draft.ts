// A request before it is signed: the inputs of a recipe, to which changes are made.

import type { Sent } from './exchange.ts'
import type { Operation } from './operation.ts'

/** The headers that authenticate a request; some of them cover other headers. */
export type Credential = (request: Omit<Sent, 'headers'>, headers: Draft['headers']) => Record<string, string>

/** The inputs that an operation needs to succeed. */
export interface Given {
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
  /** Bytes are sent unchanged, any other value as JSON. */
  body?: unknown
  /** Replaces the credential of the operation's security scheme. */
  credential?: Credential
}

export interface Draft {
  /** Percent-encoded, by parameter. */
  path: Record<string, string>
  /** Percent-encoded names and values. */
  query: [name: string, value: string][]
  headers: Record<string, string>
  body: { json: unknown } | { bytes: Uint8Array } | null
}

export function draftOf({ path = {}, query = {}, headers = {}, body }: Given): Draft {
  return {
    path: Object.fromEntries(Object.entries(path).map(([name, value]) => [name, encodePath(value)])),
    query: Object.entries(query).flatMap(([name, value]) => queryPairs(name, value)),
    headers: { ...headers },
    body: body === undefined ? null : body instanceof Uint8Array ? { bytes: body } : { json: body },
  }
}

/** Each item of a list is a separate parameter. */
export function queryPairs(name: string, value: unknown): [string, string][] {
  const values = Array.isArray(value) ? value : [value]
  return values.map((item) => [encode(name), encode(textOf(item))])
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

export const encode = (text: string) => encodeURIComponent(text.toWellFormed())
/** Keeps the slashes of names with folders. */
const encodePath = (text: string) => text.split('/').map(encode).join('/')

export function sentBy({ method, path }: Operation, draft: Draft, credential: Credential): Sent {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => draft.path[name] ?? '')
  const query = draft.query.map(([name, value]) => `${name}=${value}`).join('&')
  const target = query === '' ? filled : `${filled}?${query}`
  const body = bytesOf(draft.body)
  const type = draft.body && 'json' in draft.body ? { 'content-type': 'application/json' } : {}
  const headers = { ...type, ...draft.headers }
  return { method, target, headers: { ...headers, ...credential({ method, target, body }, headers) }, body }
}

function bytesOf(body: Draft['body']): Uint8Array | null {
  if (body === null) return null
  return 'bytes' in body ? body.bytes : Buffer.from(JSON.stringify(body.json) ?? '')
}
