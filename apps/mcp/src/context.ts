// All that tools work with.

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
import { fileJournal } from '@svc/sdk/node'
import { Refusal } from './failures.ts'
import { createSpending, type Spending } from './money/spending.ts'
import { openRoot, type Root } from './paths/root.ts'
import type { Settings } from './settings.ts'
import { openWallet } from './wallet.ts'

export interface Context {
  settings: Settings
  client: Client
  /** Null where no agent service is known. */
  agent: AgentClient | null
  journal: Journal
  root: Root
  /** Null where no key is configured. */
  owner: Owner | null
  /** Unix milliseconds. */
  now: () => number
}

export interface Owner {
  signer: Signer
  wallet: Wallet | null
  spending: Spending
  /** Purchases of one intent, so that each can tell whether it was the one that paid. */
  inTurn: KeyedMutex
}

interface Surroundings {
  warn: (text: string) => void
  now?: () => number
  /** What a test does not want to wait for. */
  wait?: Overrides['wait']
}

export async function createContext(
  settings: Settings,
  { warn, now = Date.now, wait }: Surroundings,
): Promise<Context> {
  const { gateway, agent, stateFolder, walletFile, pinnedKeys, limits } = settings
  await mkdir(stateFolder, { recursive: true, mode: 0o700 })
  const journal = fileJournal(join(stateFolder, 'journal'))
  const opened = walletFile === null ? null : await openWallet(walletFile, settings)
  const today = () => dayOf(now())
  const shared = {
    journal,
    ...(opened && { signer: opened.signer }),
    onWarning: warn,
    onRetry: ({ service, waitMs, error }: Retry) => warn(retryText(service, waitMs, error)),
  }
  const overrides = { ...(wait && { wait }) }
  return {
    settings,
    journal,
    root: await openRoot(settings),
    owner: opened && {
      ...opened,
      spending: createSpending({ journal, address: opened.signer.address, limits, today }),
      inTurn: keyedMutex(),
    },
    client: createClient(
      {
        ...shared,
        baseUrl: gateway,
        pinnedKeys: [...new Set(pinnedKeys.map(({ publicKeyHex }) => publicKeyHex))],
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

/** In UTC: `2026-11-15`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** For what the agent service does. */
export function requireAgent({ agent, settings }: Context): { agent: AgentClient; seller: string } {
  if (agent && settings.agent !== null) return { agent, seller: settings.agent }
  throw new Refusal(
    'no_agent',
    'this server knows no agent service',
    'Whoever runs it must set SVC_AGENT to the address of one',
  )
}

/** For what only an owner, or an operator, may do. */
export function requireOwner({ owner }: Context): Owner {
  if (owner) return owner
  throw new Refusal(
    'no_wallet',
    'this server has no key to sign with',
    'Whoever runs it must set SVC_WALLET to a key file; reading in public, verify and explain work without',
  )
}
