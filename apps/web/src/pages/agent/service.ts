// The agent service of this gateway, and the session of a connected wallet.

import { type Signal, signal } from '@preact/signals'
import type { AgentDiscovery } from '@svc/api/agent/info'
import type { AgentClient, Client } from '@svc/sdk'
import type { GatewayNode } from '@svc/sdk/gateway-wallets'
import { index, publicUrl } from '../../gateway.ts'
import { createSignedClient } from '../../signed-client.ts'
import type { ConnectedWallet } from '../../wallets/wallet.ts'

export type ServiceState =
  | { at: 'loading' | 'none' | 'down' | 'no-index' }
  | { at: 'foreign'; gatewayUrl: string }
  | { at: 'ready'; service: AgentService }

export interface AgentService {
  url: string
  discovery: AgentDiscovery
}

export interface AgentSession {
  wallet: ConnectedWallet
  service: AgentService
  agent: AgentClient
  gateway: Client
  /** The node for payments: the service reports only its own quotes. */
  node: GatewayNode
}

const NO_TRACES = { credentials: 'omit', referrerPolicy: 'no-referrer' } as const

export const service: Signal<ServiceState> = signal({ at: 'loading' })

export async function findService(): Promise<void> {
  service.value = { at: 'loading' }
  if (index.now.peek().state !== 'ready') await index.load()
  const { value } = index.now
  if (value.state !== 'ready') {
    service.value = { at: 'no-index' }
    return
  }
  const url = value.value.agent_url?.replace(/\/+$/, '')
  service.value = url ? await readService(url) : { at: 'none' }
}

/** Reads once, without retries: the page shows whether the service answers now. */
async function readService(url: string): Promise<ServiceState> {
  try {
    const response = await fetch(`${url}/.well-known/svc-agent.json`, {
      ...NO_TRACES,
      signal: AbortSignal.timeout(10_000),
    })
    const discovery = (await response.json()) as AgentDiscovery
    if (!response.ok || discovery.name !== 'svc-agent' || typeof discovery.subscription.price_usd !== 'number')
      return { at: 'down' }
    // Its rights and findings would be at another gateway.
    if (withoutSlash(discovery.gateway_url) !== withoutSlash(publicUrl()))
      return { at: 'foreign', gatewayUrl: discovery.gateway_url }
    return { at: 'ready', service: { url, discovery } }
  } catch {
    return { at: 'down' }
  }
}

export async function openSession(wallet: ConnectedWallet, service: AgentService): Promise<AgentSession> {
  const { storageJournal } = await import('@svc/sdk')
  const [endpoints, { isPrivateHost }] = await Promise.all([
    import('@svc/api/agent/payment'),
    import('@svc/sdk/local-services'),
  ])
  const agent = await clientOf(service.url, { signer: wallet.signer, journal: storageJournal() })
  const node = { client: await clientOf(service.url), endpoints, isLocal: isPrivateHost(service.url) }
  return { wallet, service, agent, gateway: await createSignedClient(wallet.signer), node }
}

type Options = Pick<Parameters<typeof import('@svc/sdk').createAgentClient>[0], 'signer' | 'journal'>

async function clientOf(baseUrl: string, options: Options = {}): Promise<AgentClient> {
  const { createAgentClient } = await import('@svc/sdk')
  return createAgentClient({
    baseUrl,
    fetch: (input, init) => fetch(input, { ...init, ...NO_TRACES }),
    // Warnings in the console would not be read.
    onWarning: () => {},
    ...options,
  })
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
