import type { Exchange } from '../http/exchange.ts'
import type { Objects, StoredObject } from './objects.ts'
import { receive } from './receive.ts'
import { StoreError } from './store-error.ts'

/** GET, HEAD, PUT and DELETE of one object. */
export async function serveObject(
  exchange: Exchange,
  objects: Objects,
  key: string,
  mustBeNew: boolean,
): Promise<void> {
  const { method } = exchange
  if (method === 'PUT') return put(exchange, objects, key, mustBeNew)
  if (method === 'DELETE') {
    await objects.remove(key)
    return exchange.answer(204)
  }
  const object = objects.find(key)
  if (!object) throw new StoreError(404, 'NoSuchKey')
  if (method === 'HEAD') return exchange.answer(200, headersOf(exchange, object, object.size))
  if (method !== 'GET') throw new StoreError(405, 'MethodNotAllowed')
  return get(exchange, objects, object)
}

async function put(exchange: Exchange, objects: Objects, key: string, mustBeNew: boolean): Promise<void> {
  const { etag, ...file } = await receive(exchange, objects.newPath())
  await objects.keep({ key, etag, headers: keptHeaders(exchange), files: [file] }, mustBeNew)
  exchange.answer(200, { etag: `"${etag}"` })
}

/** What is kept with an object of the headers it came with. */
export function keptHeaders({ headers }: Exchange): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('x-amz-meta-'))
  return Object.fromEntries(kept.map(([name, value]) => [name, `${value}`]))
}

async function get(exchange: Exchange, objects: Objects, object: StoredObject): Promise<void> {
  const { headers } = exchange
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && ifMatch !== `"${object.etag}"`) throw new StoreError(412, 'PreconditionFailed')
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  const start = Number(first ?? 0)
  const end = Math.min(last ? Number(last) : Number.POSITIVE_INFINITY, object.size - 1)
  if (first !== undefined && start > end) throw new StoreError(416, 'InvalidRange')
  const range = first === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${object.size}` }
  const answer = { ...headersOf(exchange, object, end - start + 1), ...range }
  if (object.size === 0) return exchange.answer(200, answer)
  await exchange.give(first === undefined ? 200 : 206, answer, objects.read(object, start, end))
}

function headersOf(
  { url }: Exchange,
  { headers, etag }: StoredObject,
  length: number,
): Record<string, string | number> {
  const type = url.searchParams.get('response-content-type')
  return { ...headers, ...(type && { 'content-type': type }), 'content-length': length, etag: `"${etag}"` }
}
