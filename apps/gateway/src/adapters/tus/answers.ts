// The responses about an upload.

import type { Bytes } from '@svc/service/http/answer'
import type { Context } from '../../context.ts'
import { encodedName, headersOnly, httpDate } from './headers.ts'
import type { Upload } from './upload.ts'

/** The headers of every response about an upload. */
export function uploadHeaders({ session, file, tus }: Upload): Record<string, string> {
  const isStored = file.state === 'stored'
  return {
    'upload-offset': `${file.received_bytes}`,
    ...(!isStored && { 'upload-expires': httpDate(session.expires_at) }),
    ...(tus.kind !== 'partial' && { 'svc-filename': encodedName(file.filename) }),
    ...(isStored && file.content_hash !== null && { 'svc-content-hash': file.content_hash }),
  }
}

/** HEAD also returns the values that the upload was created with. */
export function creationHeaders({ file, tus }: Upload): Record<string, string> {
  const { size_bytes } = file
  const concat = tus.kind === 'partial' ? 'partial' : tus.upload_concat
  return {
    ...(size_bytes === null ? { 'upload-defer-length': '1' } : { 'upload-length': `${size_bytes}` }),
    ...(tus.upload_metadata !== null && { 'upload-metadata': tus.upload_metadata }),
    ...(concat !== null && { 'upload-concat': concat }),
  }
}

export function createdAnswer({ config }: Context, token: string, upload: Upload): Bytes {
  const location = `${config.http.baseUrl}/v1/tus/${token}`
  return headersOnly(201, { location, ...uploadHeaders(upload) })
}
