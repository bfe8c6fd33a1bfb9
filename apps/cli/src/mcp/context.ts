// The context that every tool receives.

import { join } from 'node:path'
import { type KeyedMutex, keyedMutex } from '@svc/concurrency/locks'
import {
  type AgentClient,
  type Client,
  createAgentClient,
  createClient,
  type Journal,
  type Overrides,
  type Retry,
  type Signer,
  type Wallet,
} from '@svc/sdk'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { localNode } from '@svc/sdk/local-services'
import { fileJournal } from '@svc/sdk/node'
import type { Rpc } from '@svc/verifier/rpc'
import { openFolder } from '../setup/folder.ts'
import { Refusal } from './errors.ts'
import { createSpending, type Spending } from './money/spending.ts'
import { openRoot, type Root } from './root.ts'
import type { Settings } from './settings.ts'

export interface Context {
  settings: Settings
  client: Client
  /** Null if no agent service is known. */
  agent: AgentClient | null
  journal: Journal
  root: Root
  /** Null if the user has named no key. */
  owner: Owner | null
  /** Unix milliseconds. */
  now: () => number
}

export interface Owner {
  signer: Signer
  /** Null if no node of its chain is known. */
  wallet: Wallet | null
  spending: Spending
  /** Serializes the purchases of one intent, so that each call knows whether it was the one that paid. */
  lock: KeyedMutex
}

interface ContextOptions {
  warn: (text: string) => void
  now?: () => number
  /** Replaces waiting in tests. */
  wait?: Overrides['wait']
}

export async function createContext(
  settings: Settings,
  { warn, now = Date.now, wait }: ContextOptions,
): Promise<Context> {
  const { gateway, agent, stateFolder, key, trusted, limits } = settings
  await openFolder(stateFolder)
  const journal = fileJournal(join(stateFolder, 'journal'))
  const node = key && nodeOf(settings, key.namespace)
  // Without a node of its chain the key can sign, but not pay.
  const wallet = key && node !== null ? await key.wallet(node) : null
  const today = () => dayOf(now())
  const outcomeOf: Wallet['outcomeOf'] = async (payment) => (await wallet?.outcomeOf(payment)) ?? 'pending'
  const shared = {
    journal,
    ...(key && { signer: key.signer }),
    onWarning: warn,
    onRetry: ({ service, waitMs, error }: Retry) => warn(retryText(service, waitMs, error)),
  }
  const overrides = { ...(wait && { wait }) }
  const root = await openRoot(settings)
  if (root.folder === null) warn(`SVC_MCP_ROOT is not set, and ${settings.root.folder} is too wide: no files are read`)
  return {
    settings,
    journal,
    root,
    owner: key && {
      signer: key.signer,
      wallet,
      spending: createSpending({ journal, address: key.address, limits, today, outcomeOf }),
      lock: keyedMutex(),
    },
    client: createClient(
      {
        ...shared,
        baseUrl: gateway,
        pinnedKeys: trusted.pinnedKeys,
        recoveryKeys: trusted.listed.recovery,
        ...(trusted.domainTag && { domainTag: trusted.domainTag }),
      },
      overrides,
    ),
    agent: agent === null ? null : createAgentClient({ ...shared, baseUrl: agent }, overrides),
    now,
  }
}

function retryText(service: string, waitMs: number, error: unknown): string {
  return `${service}: ${(error as Error).message}; trying again in ${Math.round(waitMs / 1000)} s`
}

/** The day in UTC: `2026-11-15`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** The agent service; throws if none is known. */
export function requireAgent({ agent, settings }: Context): { agent: AgentClient; seller: string } {
  if (agent && settings.agent !== null) return { agent, seller: settings.agent }
  throw new Refusal(
    'no_agent',
    'this server knows no agent service',
    'The user must set SVC_AGENT to the address of an agent service',
  )
}

/** The key for calls of owners and operators; throws if none is configured. */
export function requireOwner({ owner }: Context): Owner {
  if (owner) return owner
  throw new Refusal(
    'no_wallet',
    'this server has no key to sign with',
    'The user must set SVC_WALLET to a key file; public reads, verify and explain work without it',
  )
}

/** The configured node of a chain, or the local one; null if there is none. */
function nodeOf({ nodes, gateway }: Settings, namespace: Wallet['namespace']): string | null {
  return nodes[namespace] ?? localNode(namespace, gateway)
}

const TIMEOUT_MS = 10_000

/** Asks the node of the primary chain; throws if there is none. */
export function primaryNode(settings: Settings, signal: AbortSignal): Rpc {
  const url = nodeOf(settings, 'solana')
  if (url !== null) return jsonRpc(url, { signal, timeoutMs: TIMEOUT_MS })
  return async () => {
    throw new Error('no node is set (SVC_PRIMARY_RPC)')
  }
}
