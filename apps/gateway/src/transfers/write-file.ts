import type { UploadedBytes } from '@svc/api/transfers'
import type { Bytes } from '@svc/http-service/answer'
import { bodyStream } from '@svc/http-service/body-stream'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { FileRow, Locker } from '../db/schema.ts'
import { maxObjectBytes, type NewObject, removeObject, writeObject } from '../files/objects.ts'
import { putFile } from '../files/put-file.ts'
import type { FilesContext } from '../files/room.ts'
import { requireAcceptable } from './acceptable-upload.ts'
import type { OpenedFile } from './open-token.ts'
import { sendToProvider } from './send-to-provider.ts'

/** The bytes count once they are whole, durable and held by the file; until then there is nothing of them to be seen. */
export async function writeByToken(
  context: FilesContext,
  opened: OpenedFile,
  wire: WireRequest,
  { proxy }: { proxy?: string },
): Promise<UploadedBytes | Bytes> {
  const { locker, file } = opened
  const maxBytes = maxObjectBytes(context, locker.provider)
  requireAcceptable(wire, file.upload_content_type, maxBytes)
  const redirect = proxy === '1' ? null : await sendToProvider(context, opened)
  if (redirect) return redirect
  const length = wire.headers['content-length']
  const object = await writeObject(context, locker.provider, bodyStream(wire, maxBytes), {
    contentType: file.upload_content_type,
    size: length === undefined ? null : Number(length),
  })
  await hold(context, locker, file, object)
  const { locker_id, filename } = file
  return { ok: true, locker_id, filename, size_bytes: object.size, status: 'awaiting_bytes' }
}

async function hold(context: FilesContext, locker: Locker, file: FileRow, object: NewObject): Promise<void> {
  try {
    await putFile(context, locker, {
      filename: file.filename,
      object,
      contentType: file.upload_content_type,
      expectedHash: file.upload_expected_hash,
      mayCreate: false,
    })
  } catch (error) {
    // Any other error leaves open whether the file holds the object: then it is the sweep's to look.
    if (error instanceof ServiceError) await removeObject(context, locker.provider, object.id, object.ref)
    throw error
  }
}
