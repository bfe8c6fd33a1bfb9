// The settings of the server: the settings of `svc`, and what a model may spend and read. A model cannot change them.

import { resolve } from 'node:path'
import { localAgent } from '@svc/sdk/local-services'
import { homeFolder, userFolder } from '@svc/sdk/user-folder'
import { NOTHING_LISTED, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { Failure } from '../errors.ts'
import { type GivenKeys, givenKeys } from '../evidence/given-keys.ts'
import type { Environment } from '../host.ts'
import type { Session } from '../session.ts'
import { agentUrl, webAddress } from '../setup/settings.ts'
import type { Key } from '../setup/wallet.ts'
import { COINS, type Limits, microDollars } from './money/dollars.ts'

export interface Settings {
  gateway: string
  /** The address of the agent service; null if none is known. */
  agent: string | null
  /** Files are read only below this folder. `isImplied` means that the user named none: it is the working folder. */
  root: { folder: string; isImplied: boolean }
  /** Null if no variable names it. */
  home: string | null
  /** Files and folders with keys: they are never read for a model. */
  secrets: string[]
  /** The folder of the profile, with its payments, keys and lockers. */
  stateFolder: string
  /** The key that pays and owns; null unless the user has named one. */
  key: Key | null
  nodes: { solana: string | null; eip155: string | null }
  /** Empty if the user pinned none. */
  trusted: Pick<GivenKeys, 'pinnedKeys' | 'listed' | 'pinnedSigners' | 'domainTag'>
  limits: Limits
}

/** Amounts in dollars. */
export const DEFAULTS = { maxUsd: '1', maxUsdPerDay: '5' }

/** Throws one error that names every problem. */
export async function readSettings(
  env: Environment,
  folder: string,
  openSession: () => Promise<Session>,
): Promise<Settings> {
  const problems: string[] = []
  const record = <T>(problem: string, otherwise: T): T => {
    problems.push(problem)
    return otherwise
  }

  /** Null if reading fails. */
  async function tried<T>(read: () => T | Promise<T>): Promise<T | null> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return record(error.hint === null ? error.message : `${error.message} (${error.hint})`, null)
    }
  }

  function dollars(name: string, fallback: string): bigint {
    const text = env[name] || fallback
    return microDollars(text) ?? record(`${name} must be an amount of dollars like 2.50, not "${text}"`, 0n)
  }

  const limits: Limits = {
    perPurchase: dollars('SVC_MCP_MAX_USD', DEFAULTS.maxUsd),
    perDay: dollars('SVC_MCP_MAX_USD_PER_DAY', DEFAULTS.maxUsdPerDay),
    coins: Object.fromEntries(
      COINS.map(({ ticker }) => {
        const name = `SVC_MCP_USD_PER_${ticker}`
        return [ticker, env[name] ? dollars(name, '') : null]
      }),
    ),
  }
  const session = await tried(openSession)
  const trusted = await tried(() => trustedKeys(env, session))
  if (session && trusted) {
    const { settings, gateway, folder: stateFolder } = session
    const nodeOf = (name: 'primary-rpc' | 'evm-rpc') => settings[name] && webAddress(settings[name].value, 'a node')
    const key = await tried(() => namedKey(env, session))
    const read: Settings = {
      gateway,
      agent: await tried(() => (settings.agent ? agentUrl(settings.agent.value) : localAgent(gateway))),
      root: { folder: resolve(folder, env.SVC_MCP_ROOT || '.'), isImplied: !env.SVC_MCP_ROOT },
      home: homeFolder(env),
      stateFolder,
      secrets: [stateFolder, userFolder(env, 'XDG_CONFIG_HOME'), key?.from].filter((path) => typeof path === 'string'),
      key,
      nodes: { solana: await tried(() => nodeOf('primary-rpc')), eip155: await tried(() => nodeOf('evm-rpc')) },
      trusted,
      limits,
    }
    if (problems.length === 0) return read
  }
  throw new Failure(`the server cannot start: ${problems.join('; ')}`)
}

/** A model must not spend from the default key file of other tools: the user has not chosen it for this server. */
async function namedKey(env: Environment, { settings, keys }: Session): Promise<Key | null> {
  const [first = null] = settings.wallet || env.SVC_EVM_KEY ? await keys() : []
  return first
}

/** The keys in SVC_KEYS and SVC_ANCHOR_SIGNERS, or else the keys that the profile has pinned for the gateway. */
async function trustedKeys(env: Environment, session: Session | null): Promise<Settings['trusted']> {
  const signers = (env.SVC_ANCHOR_SIGNERS ?? '').split(/[\s,]+/).filter((word) => word !== '')
  const pinned = env.SVC_KEYS ? keysIn(env.SVC_KEYS) : session && (await givenKeys(session, []))
  const trusted = pinned ?? NOTHING_TRUSTED
  return { ...trusted, ...(signers.length > 0 && { pinnedSigners: signers }) }
}

const NOTHING_TRUSTED = { pinnedKeys: [], listed: NOTHING_LISTED, pinnedSigners: [], domainTag: null }

function keysIn(text: string): Settings['trusted'] {
  const read = readPinnedKeys(text)
  if (!read.ok) throw new Failure(`SVC_KEYS: ${read.problem}`)
  const { keys, changes, recovery, logs } = read
  return { ...NOTHING_TRUSTED, pinnedKeys: keys, listed: { changes, recovery, logs } }
}
