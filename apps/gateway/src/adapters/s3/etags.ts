// The ETags by which clients compare objects.

import { hash } from 'node:crypto'
import { bare } from '@svc/protocol/bytes'
import { canonicalJson } from '@svc/protocol/canonical'
import { formatEtag } from '@svc/s3/etag'
import type { FileRow } from '../../db/schema.ts'
import { isSha256 } from '../../files/parts/part-digest.ts'
import type { Validators } from '../http/range-requests.ts'

type Tagged = Pick<FileRow, 'content_hash' | 'object_id' | 'metadata'>

/**
 * The MD5 of the bytes if the client sent it; otherwise derived from the hash of the file, or, until that is recorded,
 * from the object's id, which never has other bytes.
 */
export function etagOf(file: Tagged): string {
  const { content_hash, object_id } = file
  const md5 = md5Of(file)
  if (md5 !== undefined) return `"${Buffer.from(md5, 'base64').toString('hex')}"`
  return content_hash === null ? objectEtag(object_id) : formatEtag(bare(content_hash))
}

/** Stored among the headers of an object, because these are replaced with its bytes. It is never sent as a header. */
export const MD5_KEY = 'content-md5'

/** Base64. */
export function md5Of({ metadata }: Pick<FileRow, 'metadata'>): string | undefined {
  return metadata?.includes(MD5_KEY) ? JSON.parse(metadata)[MD5_KEY] : undefined
}

/** `md5`: the verified MD5 of the request, or of an object with the same bytes. */
export function withMd5(metadata: string | null, md5: string | undefined): string | null {
  return md5 === undefined ? metadata : canonicalJson({ ...JSON.parse(metadata ?? '{}'), [MD5_KEY]: md5 })
}

/** `digest`: the value of the part's row. */
export function etagOfPart(digest: string): string {
  return formatEtag(isSha256(digest) ? digest : hash('sha256', digest))
}

function objectEtag(objectId: string | null): string {
  return formatEtag(hash('sha256', `etag ${objectId}`))
}

/** The tag from before the hash was recorded remains valid, so that a download can be resumed. */
export function validatorsOf(file: Tagged & Pick<FileRow, 'uploaded_at'>): Validators {
  const { uploaded_at } = file
  const modifiedAt = uploaded_at === null ? null : Math.floor(Date.parse(uploaded_at) / 1000) * 1000
  return { etags: [etagOf(file), objectEtag(file.object_id)], modifiedAt }
}

/** Some clients omit the quotes. */
export function quoted(tags: string): string {
  if (tags.includes('"') || tags.trim() === '*') return tags
  return tags
    .split(',')
    .map((tag) => `"${tag.trim()}"`)
    .join(', ')
}
