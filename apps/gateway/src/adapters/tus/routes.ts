import * as tus from '@svc/api/tus'
import { headerList, PREFLIGHT } from '@svc/service/http/send'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { serveLocker } from '../../auth/serve-signed.ts'
import type { Context } from '../../context.ts'
import { deleteUpload, overriddenMethod, patchUpload } from './continue-upload.ts'
import { createUpload } from './create-upload.ts'
import { capabilities } from './headers.ts'
import { headUpload, readUpload } from './read-upload.ts'
import { mintToken, tusCaller } from './tokens.ts'

export function tusRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveLocker(service, auth, tus.createTusToken, ({ caller, body }) => mintToken(context, caller, body))
  serveKnown(
    service,
    tus.createTusUpload,
    (wire, { params }) => tusCaller(context, wire, params.locker_id),
    ({ caller, wire }) => createUpload(context, caller, wire),
  )
  serve(service, tus.readTusUpload, ({ params: { upload_id }, wire }) =>
    wire.method === 'HEAD' ? headUpload(context, upload_id, wire) : readUpload(context, upload_id),
  )
  serve(service, tus.writeTusUpload, ({ params, wire }) => patchUpload(context, params.upload_id, wire))
  serve(service, tus.terminateTusUpload, ({ params, wire }) => deleteUpload(context, params.upload_id, wire))
  serve(service, tus.overrideTusMethod, ({ params, wire }) => overriddenMethod(context, params.upload_id, wire))
  const headers = PREFLIGHT.concat(headerList(capabilities(context.config.storage.maxUploadBytes)))
  for (const { path } of [tus.createTusUpload, tus.writeTusUpload]) {
    service.add({
      method: 'OPTIONS',
      path,
      maxBodyBytes: null,
      handle: (request) => service.send(request, { route: null, status: 204, headers, text: null }),
    })
  }
}
