// For tests: a market that also has an agent service, behind a faulty proxy.

import { DEV_AGENT_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { AGENT_TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestAgent } from '@svc/devnet/services/agent'
import { toHex } from '@svc/protocol/bytes'
import { beforeEach } from 'vitest'
import { type AgentClient, createAgentClient } from '../src/client.ts'
import type { ClientOptions, Overrides } from '../src/context.ts'
import type { Locker } from '../src/lockers.ts'
import type { Signer } from '../src/signers.ts'
import { shared } from './lockers.ts'
import { type Buyer, type Held, holdings, type Market, openMarket } from './market.ts'

export interface AgentMarket extends Market {
  agent: Awaited<ReturnType<typeof startTestAgent>>
  agentProxy: FaultyProxy
  /** The public key of the agent service in hex. */
  agentKey: string
  agentClient(options?: Partial<ClientOptions>, overrides?: Overrides): AgentClient
  agentTreasury(asset: Held): Promise<bigint>
  /** Gives the buyer a subscription, a locker and an active delegation of it. */
  subscriber(buyer: Buyer): Promise<{ client: AgentClient; locker: Locker; delegationId: string }>
  /** Moves the clock by this many seconds and runs all due work of the agent. */
  work(seconds?: number): Promise<void>
}

export async function openAgentMarket(): Promise<AgentMarket> {
  const market = await openMarket()
  const { chains, now, wait } = market
  const agent = await startTestAgent({ ...chains.agentVariables, GATEWAY_URL: market.gateway.url }, { now })
  const agentProxy = await startFaultyProxy(agent.url)
  const agentKey = toHex(agent.context.signer.publicKey)
  const agentClient = (options: Partial<ClientOptions> = {}, overrides: Overrides = {}) =>
    createAgentClient({ baseUrl: agentProxy.url, onWarning: () => {}, ...options }, { wait, ...overrides })

  async function delegateActively(client: AgentClient, signer: Signer, locker: Locker): Promise<string> {
    const { delegation_id, agent_pubkey } = await client.delegate(locker.receipt_id)
    await market.client({ signer }).addOperator(locker, agent_pubkey)
    return delegation_id
  }

  return {
    ...market,
    agent,
    agentProxy,
    agentKey,
    agentClient,
    async agentTreasury(asset) {
      await chains.settle()
      return holdings(chains, { primary: AGENT_TREASURY, evm: DEV_AGENT_TREASURY }, asset)
    },
    async subscriber({ signer, wallet }) {
      const client = agentClient({ signer, pinnedKeys: [agentKey] })
      await client.subscribe({ intent: 'the agent', wallet })
      const locker = await market.locker(signer)
      return { client, locker, delegationId: await delegateActively(client, signer, locker) }
    },
    async work(seconds = 0) {
      market.advance(seconds)
      await agent.context.queue.drain()
    },
    async close() {
      await agentProxy.stop()
      await agent.stop()
      await market.close()
    },
  }
}

export function useAgentMarket(): AgentMarket {
  const market = shared(openAgentMarket)
  beforeEach(() => market.agentProxy.behave())
  return market
}
