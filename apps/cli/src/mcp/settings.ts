// The settings of the server. A model cannot change them.

import { resolve } from 'node:path'
import { LOCAL_GATEWAY, localAgent } from '@svc/sdk/local-services'
import { homeFolder, userFolder } from '@svc/sdk/user-folder'
import { type ListedChanges, NOTHING_LISTED, type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { Failure } from '../errors.ts'
import { COINS, type Limits, microDollars } from './money/dollars.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface Settings {
  gateway: string
  /** The address of the agent service; null if none is known. */
  agent: string | null
  /** Files are read only from below this folder. It is implied if the user named none: then it is the working folder. */
  root: { folder: string; isImplied: boolean }
  /** Null if nothing says where it is. */
  home: string | null
  /** Holds the journal of payments and uploads; by default shared with the command line. */
  stateFolder: string
  walletFile: string | null
  nodes: { solana: string | null; eip155: string | null }
  /** Empty if the user pinned none. */
  pinnedKeys: PinnedKey[]
  /** What the list of SVC_KEYS says besides. */
  listedChanges: ListedChanges
  anchorSigners: string[]
  limits: Limits
}

/** In dollars. */
export const DEFAULTS = { maxUsd: '1', maxUsdPerDay: '5' }

const NO_KEYS = { keys: [], ...NOTHING_LISTED }

/** Throws one error that names every problem. */
export function readSettings(env: Variables, folder: string): Settings {
  const problems: string[] = []
  const note = <T>(problem: string, otherwise: T): T => {
    problems.push(problem)
    return otherwise
  }

  function address(name: string, text: string): string {
    const url = URL.parse(text)
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
    return isPlain ? text.replace(/\/+$/, '') : note(`${name} must be an http or https address`, text)
  }

  function dollars(name: string, fallback: string): bigint {
    const text = env[name] || fallback
    return microDollars(text) ?? note(`${name} must be an amount of dollars like 2.50, not "${text}"`, 0n)
  }

  const optional = <T>(name: string, read: (name: string, text: string) => T): T | null =>
    env[name] ? read(name, env[name]) : null

  function keys(name: string, text: string): { keys: PinnedKey[] } & ListedChanges {
    const read = readPinnedKeys(text)
    return read.ok ? read : note(`${name}: ${read.problem}`, NO_KEYS)
  }

  const gateway = address('SVC_GATEWAY', env.SVC_GATEWAY || LOCAL_GATEWAY)
  const pinned = optional('SVC_KEYS', keys) ?? NO_KEYS
  const settings: Settings = {
    gateway,
    agent: optional('SVC_AGENT', address) ?? (problems.length === 0 ? localAgent(gateway) : null),
    root: { folder: resolve(folder, env.SVC_MCP_ROOT || '.'), isImplied: !env.SVC_MCP_ROOT },
    home: homeFolder(env),
    stateFolder: stateFolder(env) ?? note('SVC_MCP_STATE must name a folder: nothing says where your home is', ''),
    walletFile: env.SVC_WALLET ? resolve(folder, env.SVC_WALLET) : null,
    nodes: { solana: optional('SVC_PRIMARY_RPC', address), eip155: optional('SVC_EVM_RPC', address) },
    pinnedKeys: pinned.keys,
    listedChanges: { changes: pinned.changes, recovery: pinned.recovery, logs: pinned.logs },
    anchorSigners: (env.SVC_ANCHOR_SIGNERS ?? '').split(/[\s,]+/).filter((word) => word !== ''),
    limits: {
      perPurchase: dollars('SVC_MCP_MAX_USD', DEFAULTS.maxUsd),
      perDay: dollars('SVC_MCP_MAX_USD_PER_DAY', DEFAULTS.maxUsdPerDay),
      coins: Object.fromEntries(
        COINS.map(({ ticker }) => [ticker, optional(`SVC_MCP_USD_PER_${ticker}`, (name) => dollars(name, ''))]),
      ),
    },
  }
  if (problems.length > 0) throw new Failure(`the server cannot start: ${problems.join('; ')}`)
  return settings
}

function stateFolder(env: Variables): string | null {
  return env.SVC_MCP_STATE ? resolve(env.SVC_MCP_STATE) : userFolder(env, 'XDG_CONFIG_HOME')
}
