// All that tools work with.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '@svc/sdk/client'
import type { Overrides } from '@svc/sdk/context'
import { fileJournal } from '@svc/sdk/file-journal'
import type { Journal } from '@svc/sdk/journal'
import type { Signer } from '@svc/sdk/signers'
import type { Wallet } from '@svc/sdk/wallets/wallet'
import { Refusal } from './failures.ts'
import { type InTurn, oneAtATime } from './money/one-at-a-time.ts'
import { createSpending, type Spending } from './money/spending.ts'
import { openRoot, type Root } from './paths/root.ts'
import type { Settings } from './settings.ts'
import { openWallet } from './wallet.ts'

export interface Context {
  settings: Settings
  client: Client
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
  inTurn: InTurn
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
  const { gateway, stateFolder, walletFile, pinnedKeys, limits } = settings
  await mkdir(stateFolder, { recursive: true, mode: 0o700 })
  const journal = fileJournal(join(stateFolder, 'journal'))
  const opened = walletFile === null ? null : await openWallet(walletFile, settings)
  const today = () => dayOf(now())
  return {
    settings,
    journal,
    root: await openRoot(settings),
    owner: opened && {
      ...opened,
      spending: createSpending({ journal, gateway, address: opened.signer.address, limits, today }),
      inTurn: oneAtATime(),
    },
    client: createClient(
      {
        baseUrl: gateway,
        journal,
        ...(opened && { signer: opened.signer }),
        pinnedKeys: [...new Set(pinnedKeys.map(({ publicKeyHex }) => publicKeyHex))],
        onWarning: warn,
      },
      { ...(wait && { wait }) },
    ),
    now,
  }
}

/** In UTC: `2026-11-15`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
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
