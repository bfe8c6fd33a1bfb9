// What tools work with.

import { mkdir } from 'node:fs/promises'
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
import { fileJournal, KeyFileError, readKeyFile } from '@svc/sdk/node'
import type { Rpc } from '@svc/verifier/rpc'
import { Failure } from '../errors.ts'
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
  /** Null if no key is configured. */
  owner: Owner | null
  /** Unix milliseconds. */
  now: () => number
}

export interface Owner {
  signer: Signer
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
  const { gateway, agent, stateFolder, walletFile, pinnedKeys, limits } = settings
  const recoveryKeys = settings.listedChanges.recovery
  await mkdir(stateFolder, { recursive: true, mode: 0o700 })
  const journal = fileJournal(join(stateFolder, 'journal'))
  const opened = walletFile === null ? null : await openWallet(walletFile, settings)
  const today = () => dayOf(now())
  const outcomeOf: Wallet['outcomeOf'] = async (payment) => (await opened?.wallet?.outcomeOf(payment)) ?? 'pending'
  const shared = {
    journal,
    ...(opened && { signer: opened.signer }),
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
    owner: opened && {
      ...opened,
      spending: createSpending({ journal, address: opened.signer.address, limits, today, outcomeOf }),
      lock: keyedMutex(),
    },
    client: createClient({ ...shared, baseUrl: gateway, pinnedKeys, recoveryKeys }, overrides),
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
    'The user must set SVC_AGENT to the address of one',
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

interface OpenWallet {
  signer: Signer
  /** Null if no node of its chain is known: the key can then sign, but not pay. */
  wallet: Wallet | null
}

/** The key that pays and owns. */
async function openWallet(file: string, settings: Settings): Promise<OpenWallet> {
  const key = await readKeyFile(file).catch(refused)
  const rpcUrl = nodeOf(settings, key.namespace)
  return { signer: key.signer, wallet: rpcUrl === null ? null : await key.wallet(rpcUrl) }
}

function refused(error: unknown): never {
  if (!(error instanceof KeyFileError)) throw error
  const hint = error.code === 'readable_by_others' ? 'make it yours alone with chmod 600' : null
  throw new Failure(`SVC_WALLET: ${error.message}`, hint)
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
