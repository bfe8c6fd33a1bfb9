// What clients compare objects by.

import { hash } from 'node:crypto'
import { bare } from '@svc/protocol/bytes'
import { formatEtag } from '@svc/s3/etag'
import type { FileRow } from '../db/schema.ts'
import type { Validators } from '../transfers/range-requests.ts'

type Tagged = Pick<FileRow, 'content_hash' | 'object_id'>

/** By the hash of a file once it is recorded; until then by its object, which never has other bytes. */
export function etagOf({ content_hash, object_id }: Tagged): string {
  return content_hash === null ? objectEtag(object_id) : formatEtag(bare(content_hash))
}

function objectEtag(objectId: string | null): string {
  return formatEtag(hash('sha256', `etag ${objectId}`))
}

/** What was answered before the hash was recorded stays good, so that a download can be continued. */
export function validatorsOf(file: Tagged & Pick<FileRow, 'uploaded_at'>): Validators {
  const { uploaded_at } = file
  const modifiedAt = uploaded_at === null ? null : Math.floor(Date.parse(uploaded_at) / 1000) * 1000
  return { etags: [etagOf(file), objectEtag(file.object_id)], modifiedAt }
}

/** Some clients leave out the quotes. */
export function quoted(tags: string): string {
  if (tags.includes('"') || tags.trim() === '*') return tags
  return tags
    .split(',')
    .map((tag) => `"${tag.trim()}"`)
    .join(', ')
}
