import * as sessions from '@svc/api/upload-sessions'
import { serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Auth } from '../../../auth/auth.ts'
import { serveLocker } from '../../../auth/serve-signed.ts'
import type { Context } from '../../../context.ts'
import { openSession } from './open-session.ts'
import { finalizeUpload, readSession } from './read-session.ts'
import { sessionCaller, sessionReader } from './session-caller.ts'
import { uploadPart } from './upload-part.ts'

export function uploadSessionRoutes(service: Service, auth: Auth, context: Context): void {
  const holder = (wire: WireRequest, { params }: { params: { session_id: string } }) =>
    sessionCaller(context, wire, params.session_id)

  serveLocker(service, auth, sessions.openUploadSession, ({ caller, body }) => openSession(context, caller, body))
  serveKnown(service, sessions.uploadPart, holder, ({ caller, params, query, wire }) =>
    uploadPart(context, { session: caller, fileId: params.file_id, query, wire }),
  )
  serveKnown(service, sessions.finalizeUpload, holder, ({ caller }) => finalizeUpload(context, caller.session_id))
  serveKnown(
    service,
    sessions.readUploadSession,
    (wire, { params }) => sessionReader(context, wire, params.session_id),
    ({ caller }) => readSession(context, caller),
  )
  serveKnown(service, sessions.finalizeUploadJob, auth.isInternalCaller, ({ body }) =>
    finalizeUpload(context, body.session_id),
  )
}
