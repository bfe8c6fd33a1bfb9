import { agentEndpoints } from '@svc/api/agent/agent'
import { type AgentDiscovery, openApi } from '@svc/api/agent/info'
import { SUBSCRIPTION_DAYS } from '@svc/api/agent/subscriptions'
import { listedEndpoint } from '@svc/api/endpoint'
import { toHex } from '@svc/protocol/bytes'
import { HEADER_ENVELOPE, HEADER_IDENTITY, HEADER_SIGNATURE, INTERFACE_VERSION } from '@svc/protocol/names'
import type { Context } from '../context.ts'

export function discoveryDocument({ config, signer }: Context): AgentDiscovery {
  const { baseUrl } = config.http
  return {
    name: 'svc-agent',
    environment: config.mode,
    interface_version: INTERFACE_VERSION,
    base_url: baseUrl,
    gateway_url: config.gateway.url,
    openapi_url: baseUrl + openApi.path,
    subscription: { subscription_days: SUBSCRIPTION_DAYS, price_usd: Number(config.payments.subscriptionUsd) },
    signing_key: { alg: 'ed25519', public_key_hex: toHex(signer.publicKey) },
    auth: { envelope_header: HEADER_ENVELOPE, signature_header: HEADER_SIGNATURE, identity_header: HEADER_IDENTITY },
    endpoints: agentEndpoints.map(listedEndpoint),
  }
}
