// Information about the agent service.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import * as errorPages from '../error-pages.ts'
import * as gateway from '../info.ts'
import { byChainCheck } from '../networks.ts'
import { Hex, Timestamp, Words } from '../wire.ts'
import { SUBSCRIPTION_DAYS } from './subscriptions.ts'

const CheckState = Words(['ok', 'disabled', 'failing'])

export const AgentHealth = Type.Object(
  {
    status: Words(['ok', 'degraded']),
    version: Type.String({ description: 'The version of the interface.' }),
    release: gateway.Release,
    time: Timestamp(),
    checks: Type.Object({
      database: CheckState,
      gateway: CheckState,
      ...byChainCheck(() => CheckState),
    }),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: "Problems that need the admin's attention, as sentences." }),
    ),
    not_offered: Type.Optional(
      Type.Array(gateway.NotOffered, {
        description: 'Assets that quotes leave out, whether because of a problem or by configuration.',
      }),
    ),
  },
  { title: 'AgentHealth' },
)
export type AgentHealth = Static<typeof AgentHealth>

export const AgentDiscovery = Type.Object(
  {
    name: Type.Literal('svc-agent'),
    environment: Words(['development', 'production']),
    interface_version: Type.String(),
    base_url: Type.String(),
    gateway_url: Type.String(),
    openapi_url: Type.String(),
    subscription: Type.Object({ subscription_days: Type.Literal(SUBSCRIPTION_DAYS), price_usd: Type.Number() }),
    signing_key: Type.Object(
      { alg: Type.Literal('ed25519'), public_key_hex: Hex(32) },
      { description: 'The key that signs receipts and findings of this service.' },
    ),
    auth: Type.Object({
      envelope_header: Type.String(),
      signature_header: Type.String(),
      identity_header: Type.String(),
    }),
    endpoints: Type.Array(
      Type.Object({ method: Type.String(), path: Type.String(), auth: Type.String(), summary: Type.String() }),
    ),
  },
  { title: 'AgentDiscovery' },
)
export type AgentDiscovery = Static<typeof AgentDiscovery>

export const health = endpoint({
  ...gateway.health,
  name: 'agentHealth',
  summary: 'The health of the agent service and of each of its parts',
  responses: { 200: AgentHealth, 503: AgentHealth },
})

export const discovery = endpoint({
  ...gateway.discovery,
  name: 'agentDiscovery',
  path: '/.well-known/svc-agent.json',
  summary: 'Index of everything the agent service offers',
  responses: { 200: AgentDiscovery },
})

export const openApi = endpoint({ ...gateway.openApi, name: 'agentOpenApi' })

export const errorList = endpoint({ ...errorPages.errorList, name: 'agentErrorList' })

export const errorExplained = endpoint({ ...errorPages.errorExplained, name: 'agentErrorExplained' })
