import * as shares from '@svc/api/shares'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Auth } from '../../../auth/auth.ts'
import { serveLocker } from '../../../auth/serve-signed.ts'
import type { Context } from '../../../context.ts'
import { createShare } from './create-share.ts'
import { endShare } from './end-share.ts'
import { listShares } from './list-shares.ts'
import { readShared } from './read-shared.ts'

export function shareRoutes(service: Service, auth: Auth, context: Context): void {
  serveLocker(service, auth, shares.createShare, ({ caller, body }) => createShare(context, caller, body))
  serveLocker(service, auth, shares.listShares, ({ caller }) => listShares(context, caller.locker))
  serveLocker(service, auth, shares.endShare, ({ caller, params }) => endShare(context, caller.locker, params.share_id))
  serve(service, shares.readShared, ({ params, wire }) => readShared(context, params, wire))
}
