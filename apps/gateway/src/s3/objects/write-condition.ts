// Conditions of requests that write: If-Match and If-None-Match.

import { s3Error } from '@svc/s3/errors'
import type { FileRow } from '../../db/schema.ts'
import { etagOf, quoted } from '../etags.ts'
import { noSuchKey } from './find-object.ts'

/** Throws unless an object may be replaced. A name without bytes is no object. */
export type WriteCondition = (before: Pick<FileRow, 'content_hash' | 'object_id'> | null) => void

export function readWriteCondition(headers: Readonly<Record<string, string>>): WriteCondition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (noneMatch !== undefined && noneMatch.trim() !== '*') {
    throw s3Error('NotImplemented', 'If-None-Match of a request that writes is *', 'send *, or use If-Match')
  }
  return (before) => {
    const current = before?.object_id == null ? null : before
    if (noneMatch !== undefined && current) {
      throw s3Error('PreconditionFailed', 'there is an object with this key already', 'send it without If-None-Match')
    }
    if (match !== undefined && !current) throw noSuchKey()
    if (match !== undefined && current && !isMatch(match, etagOf(current))) {
      throw s3Error('PreconditionFailed', 'the object is not the one that If-Match names', 'read it, then decide again')
    }
  }
}

function isMatch(list: string, etag: string): boolean {
  return list.trim() === '*' || tagsIn(quoted(list)).includes(etag)
}

function tagsIn(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? []
}
