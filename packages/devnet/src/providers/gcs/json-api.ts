// Objects of the one bucket by the JSON API: metadata, bytes, deletion, lists.

import type { Exchange } from './exchange.ts'
import { giveMedia } from './media.ts'
import type { GcsObject, Objects } from './objects.ts'

interface Bucket {
  bucket: string
  pageSize: number
}

export async function serveObjects(exchange: Exchange, objects: Objects, { bucket, pageSize }: Bucket): Promise<void> {
  const { method, url } = exchange
  const [, inBucket, encodedName] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(url.pathname) ?? []
  if (inBucket !== bucket) return exchange.refuse(404, 'notFound', 'The specified bucket does not exist.')
  if (!encodedName) return listObjects(exchange, objects, pageSize)
  const name = decodeURIComponent(encodedName)
  const found = objects.find(name)
  const isMedia = url.searchParams.get('alt') === 'media'
  if (!found) {
    const message = `No such object: ${bucket}/${name}`
    return isMedia ? exchange.answer(404, message) : exchange.refuse(404, 'notFound', message)
  }
  const wanted = url.searchParams.get('ifGenerationMatch')
  if (wanted !== null && wanted !== found.generation) return refusePrecondition(exchange)
  if (method === 'DELETE') {
    await objects.remove(name)
    return exchange.answer(204)
  }
  if (method !== 'GET') return exchange.refuse(405, 'methodNotAllowed', 'Method Not Allowed')
  if (isMedia) return giveMedia(exchange, objects, found, found.contentType)
  exchange.answer(200, wireObject(found, bucket))
}

/** With the fields that clients here look at, whether or not they asked for fewer. */
export function wireObject({ size, ...rest }: GcsObject, bucket: string) {
  return { kind: 'storage#object', bucket, metageneration: '1', size: `${size}`, ...rest }
}

export function refusePrecondition(exchange: Exchange): void {
  exchange.refuse(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.')
}

function listObjects(exchange: Exchange, objects: Objects, pageSize: number): void {
  const { searchParams } = exchange.url
  const prefix = searchParams.get('prefix') ?? ''
  const from = searchParams.get('pageToken') ?? searchParams.get('startOffset') ?? ''
  const most = Math.min(Number(searchParams.get('maxResults') ?? pageSize), pageSize)
  const matching = objects.list().filter(({ name }) => name.startsWith(prefix) && name >= from)
  const next = matching[most]
  exchange.answer(200, {
    kind: 'storage#objects',
    items: matching.slice(0, most).map(({ name }) => ({ name })),
    ...(next && { nextPageToken: next.name }),
  })
}
