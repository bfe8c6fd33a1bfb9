import * as shares from '@svc/api/shares'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../../context.ts'
import { proveShared } from './prove-shared.ts'
import { showShare } from './show-share.ts'

export function shareViewRoutes(service: Service, context: Context): void {
  serve(service, shares.showShare, ({ params, query }) => showShare(context, params.share_id, query))
  serve(service, shares.proveShared, ({ params, wire }) => proveShared(context, params, wire))
}
