import { agentEndpoints } from '@svc/api/agent/agent'
import * as info from '@svc/api/agent/info'
import { errorIndex, errorPage } from '@svc/api/error-guide'
import { openApiDocument } from '@svc/api/openapi'
import { singleFlight } from '@svc/concurrency/sharing'
import { type Answer, JsonText } from '@svc/service/http/answer'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../context.ts'
import { discoveryDocument } from './discovery.ts'
import { checkHealth } from './health.ts'

export function infoRoutes(service: Service, context: Context): void {
  const { baseUrl } = context.config.http
  const document = openApiDocument(agentEndpoints, {
    title: 'svc agent service',
    description: 'Thirty days of work on lockers: mirrors files, watches contents and reports findings.',
    baseUrl,
  })
  const openApi = new JsonText<object>(JSON.stringify(document))
  const health = singleFlight<Answer<info.AgentHealth>>()
  serve(service, info.health, () => health('', () => checkHealth(context)))
  serve(service, info.discovery, () => discoveryDocument(context))
  serve(service, info.openApi, () => openApi)
  serve(service, info.errorList, () => errorIndex(baseUrl))
  serve(service, info.errorExplained, ({ params }) => errorPage(params.code, baseUrl))
}
