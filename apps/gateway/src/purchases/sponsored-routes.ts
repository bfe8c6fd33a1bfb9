import * as sponsored from '@svc/api/sponsored'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'
import { confirmSponsoredBatch } from './sponsored-batch.ts'
import { confirmSponsored } from './sponsored-confirm.ts'

export function sponsoredRoutes(service: Service, context: Context): void {
  const sponsor = (wire: WireRequest) => requireSponsor(context, wire)
  serveKnown(service, sponsored.sponsoredConfirm, sponsor, ({ body }) => confirmSponsored(context, body))
  serveKnown(service, sponsored.sponsoredConfirmBatch, sponsor, ({ body }) => confirmSponsoredBatch(context, body))
}

async function requireSponsor({ sponsors }: Context, { headers }: WireRequest): Promise<{ service: string }> {
  if (sponsors) return sponsors.verify(headers.authorization)
  throw new ServiceError('OIDC_TOKEN_INVALID', 'this gateway knows no identity provider of sponsors', {
    hint: 'its operator sets SPONSOR_OIDC_ISSUER and its companions; until then, use POST /v1/storage/confirm',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
