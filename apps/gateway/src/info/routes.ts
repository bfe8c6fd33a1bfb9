import { gatewayEndpoints } from '@svc/api/gateway'
import * as info from '@svc/api/info'
import { openApiDocument } from '@svc/api/openapi'
import { serve, serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { discoveryDocument } from './discovery.ts'
import { docsPage } from './docs-page.ts'
import { checkHealth } from './health.ts'
import type { Metrics } from './metrics.ts'
import { shortUrlVerifyKey } from './short-url-key.ts'
import { listSigningKeys } from './signing-keys.ts'

export function infoRoutes(service: Service, context: Context, metrics: Metrics): void {
  const { baseUrl } = context.config.http
  const openApi = openApiDocument(gatewayEndpoints, {
    title: 'svc storage gateway',
    description: 'Pay on chain, get a signed receipt, keep files, prove what you keep.',
    baseUrl,
  })
  serve(service, info.health, () => checkHealth(context))
  serveKnown(service, info.metrics, context.isInternalCaller, metrics.text)
  serve(service, info.keys, () => listSigningKeys(context))
  serve(service, info.wellKnownKeys, () => listSigningKeys(context))
  serve(service, info.shortUrlVerifyKey, () => shortUrlVerifyKey(context))
  serve(service, info.discovery, () => discoveryDocument(context))
  serve(service, info.openApi, () => openApi)
  serve(service, info.docs, docsPage)
}
