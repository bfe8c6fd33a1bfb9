// Deletes many objects with one request. Each deletion succeeds or fails independently.

import { inParallel } from '@svc/concurrency/parallel'
import { type S3Error, s3Error } from '@svc/s3/errors'
import { childrenOf, readXml, textOf, type XmlElement } from '@svc/s3/xml'
import type { Context } from '../../../context.ts'
import { xmlAnswer } from '../answers.ts'
import { requireWithinPrefix, type S3Caller } from '../caller.ts'
import { asS3Error } from '../errors.ts'
import type { S3Operation } from '../operation.ts'
import { readSmallBody } from '../request.ts'
import { removeKey } from './delete-object.ts'
import { readDeleteCondition } from './write-condition.ts'

const MAX_KEYS = 1000
/** Enough for the maximum number of keys of maximum length, with every character escaped as an entity. */
const LIMITS = { bytes: 4 * 1024 * 1024, elements: MAX_KEYS * 6 + 10 }
/** Each deletion is a transaction on the same locker's row and a request to a provider. */
const AT_ONCE = 4

export const deleteObjects: S3Operation = async (context, request, caller) => {
  const root = readXml(await readSmallBody(request, LIMITS.bytes), LIMITS)
  const objects = childrenOf(root, 'Object')
  if (root.name !== 'Delete' || objects.length === 0 || objects.length > MAX_KEYS) throw malformed()
  const keys = objects.map((object) => textOf(object, 'Key') ?? '')
  if (keys.includes('')) throw malformed()
  const failures = new Map<number, S3Error>()
  await inParallel(objects, AT_ONCE, async (object, index) => {
    try {
      await deleteOne(context, caller, keys[index] as string, object)
    } catch (error) {
      const failure = asS3Error(error)
      if (!failure) throw error
      failures.set(index, failure)
    }
  })
  const isQuiet = textOf(root, 'Quiet')?.trim() === 'true'
  const deleted = keys.filter((_, index) => !isQuiet && !failures.has(index))
  return xmlAnswer(200, 'DeleteResult', {
    Deleted: deleted.map((Key) => ({ Key })),
    Error: Array.from(failures, ([index, { code, message }]) => ({
      Key: keys[index] as string,
      Code: code,
      Message: message,
    })),
  })
}

async function deleteOne(context: Context, caller: S3Caller, key: string, object: XmlElement): Promise<void> {
  requireWithinPrefix(caller.credential, key)
  if ((textOf(object, 'VersionId') ?? 'null') !== 'null') {
    throw s3Error('InvalidArgument', 'objects have no versions on this gateway', 'omit VersionId')
  }
  await removeKey(context, caller, key, readDeleteCondition(conditionsOf(object)))
}

/** The elements as headers of DeleteObject. */
function conditionsOf(object: XmlElement): Record<string, string> {
  const conditions = {
    'if-match': textOf(object, 'ETag'),
    'x-amz-if-match-last-modified-time': textOf(object, 'LastModifiedTime'),
    'x-amz-if-match-size': textOf(object, 'Size'),
  }
  return Object.fromEntries(Object.entries(conditions).filter((entry): entry is [string, string] => entry[1] !== null))
}

function malformed(): S3Error {
  return s3Error('MalformedXML', `the body must be a Delete with 1 to ${MAX_KEYS} Object elements, each with a Key`)
}
