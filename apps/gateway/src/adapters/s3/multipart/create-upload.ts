import { formatHttpDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { beginUpload, newSession } from '../../../files/parts/new-session.ts'
import { insertSession } from '../../../files/parts/store.ts'
import { requireGranted } from '../../../lockers/access.ts'
import { requireQuota } from '../../../lockers/quota.ts'
import { xmlAnswer } from '../answers.ts'
import { requireKey } from '../objects/find-object.ts'
import { readObjectHeaders, refuseUnsupported } from '../objects/object-headers.ts'
import type { S3Operation } from '../operation.ts'
import { readAnnounced } from './checksums.ts'

/** A week: clients resume an upload after days, and few clean up. */
const TTL_SECONDS = 7 * 86_400
/** Per locker. Crashed clients leave some behind. */
const MAX_OPEN_UPLOADS = 1000

export const createUpload: S3Operation = async (context, { bucket, key, signed }, { locker, credential }) => {
  const checksum = readAnnounced(signed.headers)
  refuseUnsupported(signed.headers)
  requireKey(context, key)
  const about = readObjectHeaders(signed.headers)
  await requireQuota(context, locker, { named: [{ filename: key, bytes: 0 }] })
  const { session, files } = newSession(context, locker, {
    door: 's3',
    grant: credential.grant,
    ttlSeconds: TTL_SECONDS,
    files: [{ ...about, filename: key, checksum, expectedHash: null, sizeBytes: null }],
  })
  const size = { files: 1, most: MAX_OPEN_UPLOADS }
  const isBegun = await beginUpload(context, session, size, async (tx, current) => {
    await requireGranted(tx, current, credential.grant)
    return insertSession(tx, session, files)
  })
  if (!isBegun) throw tooManyUploads()
  const result = { Bucket: bucket, Key: key, UploadId: session.session_id }
  return xmlAnswer(200, 'InitiateMultipartUploadResult', result, {
    'x-amz-abort-date': formatHttpDate(session.expires_at),
    ...(checksum && {
      'x-amz-checksum-algorithm': checksum.algorithm.toUpperCase(),
      'x-amz-checksum-type': checksum.type,
    }),
  })
}

function tooManyUploads() {
  return s3Error(
    'InvalidRequest',
    `${MAX_OPEN_UPLOADS} uploads of this bucket are in progress, which is the limit`,
    'complete or abort some of them; ListMultipartUploads lists them',
  )
}
