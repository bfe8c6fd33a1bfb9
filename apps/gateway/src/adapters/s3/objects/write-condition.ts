// Conditions of writes and deletions: If-Match, If-None-Match, and two that only a deletion supports.

import { s3Error } from '@svc/s3/errors'
import type { FileRow } from '../../../db/schema.ts'
import { etagOf, quoted, validatorsOf } from '../etags.ts'
import { noSuchKey } from './find-object.ts'

type Before = Pick<FileRow, 'content_hash' | 'object_id' | 'object_bytes' | 'size_bytes' | 'uploaded_at' | 'metadata'>

/** Throws unless the object may be replaced or deleted. A name without bytes is not an object. */
export type WriteCondition = (before: Before | null) => void

type Headers = Readonly<Record<string, string>>

export function readWriteCondition({ 'if-match': match, 'if-none-match': noneMatch }: Headers): WriteCondition {
  return (before) => {
    const current = before?.object_id == null ? null : before
    if (noneMatch !== undefined && current && isMatch(noneMatch, etagOf(current))) {
      throw s3Error('PreconditionFailed', 'an object with this key already exists', 'omit If-None-Match to replace it')
    }
    if (match !== undefined && !current) throw noSuchKey()
    if (match !== undefined && current && !isMatch(match, etagOf(current))) throw conditionFailed('If-Match')
  }
}

const SIZE = 'x-amz-if-match-size'
const TIME = 'x-amz-if-match-last-modified-time'

export function readDeleteCondition(headers: Headers): WriteCondition {
  const check = readWriteCondition(headers)
  const { [SIZE]: size, [TIME]: time } = headers
  if (size !== undefined && !/^\d{1,15}$/.test(size))
    throw s3Error('InvalidArgument', `${SIZE} must be a number of bytes`)
  const modifiedAt = time === undefined ? undefined : Date.parse(time)
  if (Number.isNaN(modifiedAt)) throw s3Error('InvalidArgument', `${TIME} must be a date`)
  return (before) => {
    check(before)
    if (size === undefined && modifiedAt === undefined) return
    if (before?.object_id == null) throw noSuchKey()
    if (size !== undefined && Number(size) !== (before.size_bytes ?? before.object_bytes)) throw conditionFailed(SIZE)
    if (modifiedAt !== undefined && modifiedAt !== validatorsOf(before).modifiedAt) throw conditionFailed(TIME)
  }
}

function conditionFailed(header: string) {
  return s3Error('PreconditionFailed', `the object does not match ${header}`, 'read the object again before you retry')
}

function isMatch(list: string, etag: string): boolean {
  return list.trim() === '*' || tagsIn(quoted(list)).includes(etag)
}

function tagsIn(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? []
}
