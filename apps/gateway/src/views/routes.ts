import { gatewayEndpoints } from '@svc/api/gateway'
import * as info from '@svc/api/info'
import { internalAttestHealth } from '@svc/api/internal-attestations'
import { openApiDocument } from '@svc/api/openapi'
import { singleFlight } from '@svc/concurrency/sharing'
import { toHex } from '@svc/protocol/bytes'
import { type Answer, JsonText } from '@svc/service/http/answer'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../context.ts'
import { showKeys } from '../keys/signing-keys.ts'
import { attestHealth } from './attest-health.ts'
import { checkHealth, checkReadiness } from './health.ts'

export function viewRoutes(service: Service, context: Context): void {
  const { auth } = context
  const { baseUrl } = context.config.http
  let openApi: JsonText<object> | undefined
  function describeInterface() {
    const about = {
      title: 'svc storage gateway',
      description: 'Pay on chain, get a signed receipt, store files, prove what you store.',
      baseUrl,
    }
    openApi ??= new JsonText(JSON.stringify(openApiDocument(gatewayEndpoints, about)))
    return openApi
  }
  // Anyone may call these, even while other requests are shed: concurrent requests share one query.
  const [health, readiness] = [singleFlight<Answer<info.Health>>(), singleFlight<Answer<info.Readiness>>()]
  serve(service, info.health, () => health('', () => checkHealth(context)))
  serve(service, info.live, () => ({ status: 'live' }) as const)
  serve(service, info.ready, () => readiness('', () => checkReadiness(context)))
  serveKnown(service, info.metrics, auth.isInternalCaller, context.metrics.text)
  serveKnown(service, internalAttestHealth, auth.isInternalCaller, () => attestHealth(context))
  serve(service, info.keys, () => showKeys(context, context.transparencyLog.listed))
  serve(service, info.wellKnownKeys, () => showKeys(context, context.transparencyLog.listed))
  serve(
    service,
    info.shortUrlVerifyKey,
    () =>
      ({
        verify_key_hex: toHex(context.signers.shortUrl.publicKey),
        algorithm: 'ed25519',
        usage: 'short_url_token_verification',
      }) as const,
  )
  serve(service, info.openApi, describeInterface)
  serve(service, info.stats, context.stats)
}
