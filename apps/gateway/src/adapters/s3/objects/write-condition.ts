// Conditions of requests that write or delete: If-Match, If-None-Match, and two that only a deletion has.

import { s3Error } from '@svc/s3/errors'
import type { FileRow } from '../../../db/schema.ts'
import { etagOf, quoted, validatorsOf } from '../etags.ts'
import { noSuchKey } from './find-object.ts'

type Before = Pick<FileRow, 'content_hash' | 'object_id' | 'object_bytes' | 'size_bytes' | 'uploaded_at' | 'metadata'>

/** Throws unless an object may be replaced or deleted. A name without bytes is no object. */
export type WriteCondition = (before: Before | null) => void

type Headers = Readonly<Record<string, string>>

export function readWriteCondition({ 'if-match': match, 'if-none-match': noneMatch }: Headers): WriteCondition {
  return (before) => {
    const current = before?.object_id == null ? null : before
    if (noneMatch !== undefined && current && isMatch(noneMatch, etagOf(current))) {
      throw s3Error('PreconditionFailed', 'there is an object with this key already', 'send it without If-None-Match')
    }
    if (match !== undefined && !current) throw noSuchKey()
    if (match !== undefined && current && !isMatch(match, etagOf(current))) throw another('If-Match')
  }
}

const SIZE = 'x-amz-if-match-size'
const TIME = 'x-amz-if-match-last-modified-time'

export function readDeleteCondition(headers: Headers): WriteCondition {
  const check = readWriteCondition(headers)
  const { [SIZE]: size, [TIME]: time } = headers
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw s3Error('InvalidArgument', `${SIZE} is a number of bytes`)
  const modifiedAt = time === undefined ? undefined : Date.parse(time)
  if (Number.isNaN(modifiedAt)) throw s3Error('InvalidArgument', `${TIME} is a date`)
  return (before) => {
    check(before)
    if (size === undefined && modifiedAt === undefined) return
    if (before?.object_id == null) throw noSuchKey()
    if (size !== undefined && Number(size) !== (before.size_bytes ?? before.object_bytes)) throw another(SIZE)
    if (modifiedAt !== undefined && modifiedAt !== validatorsOf(before).modifiedAt) throw another(TIME)
  }
}

function another(header: string) {
  return s3Error('PreconditionFailed', `the object is not the one that ${header} names`, 'read it, then decide again')
}

function isMatch(list: string, etag: string): boolean {
  return list.trim() === '*' || tagsIn(quoted(list)).includes(etag)
}

function tagsIn(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? []
}
