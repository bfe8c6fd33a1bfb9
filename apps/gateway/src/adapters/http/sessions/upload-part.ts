import type { Query } from '@svc/api/endpoint'
import type { UploadedPart, uploadPart as uploadPartEndpoint } from '@svc/api/upload-sessions'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../../context.ts'
import { isSha256 } from '../../../files/parts/part-digest.ts'
import { maxPartBytes as maxPartBytesOf } from '../../../files/parts/record-parts.ts'
import type { Session } from '../../../files/parts/store.ts'
import { requireOpenFile, storePart } from '../../../files/parts/store-part.ts'
import { grantOf } from '../../../lockers/access.ts'
import { readPartBody } from './part-body.ts'

interface Upload {
  session: Session
  fileId: string
  query: Query<typeof uploadPartEndpoint>
  wire: WireRequest
}

export async function uploadPart(context: Context, { session, fileId, query, wire }: Upload): Promise<UploadedPart> {
  const file = await requireOpenFile(context, session, fileId)
  const maxPartBytes = maxPartBytesOf(context, session.provider)
  const body = readPartBody(wire, query, maxPartBytes)
  try {
    const part = await storePart(context, { ...body, session, file, grant: grantOf(session), maxPartBytes })
    return {
      session_id: session.session_id,
      file_id: file.file_id,
      index: part.index,
      received_bytes: part.size,
      total_received_bytes: part.totalBytes,
      ...(isSha256(part.digest) && { sha256: part.digest }),
      status: 'partial',
    }
  } finally {
    body.release()
  }
}
