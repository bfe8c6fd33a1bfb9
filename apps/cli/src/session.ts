// The session of a command: settings, output, keys and clients, created on demand.

import { join } from 'node:path'
import type { AgentClient, Client, ClientOptions, Journal } from '@svc/sdk'
import { isPrivateHost } from '@svc/sdk/local-services'
import type { Command } from 'commander'
import { UsageError } from './errors.ts'
import type { Host } from './host.ts'
import { confirm } from './output/confirm.ts'
import { createOutput, type Output, type OutputOptions } from './output/output.ts'
import { retryNotice } from './output/retry-notice.ts'
import { shellWord } from './output/shell-word.ts'
import { shown } from './output/shown.ts'
import { openFolder } from './setup/folder.ts'
import { findLocker, knownLockers, type NamedLocker } from './setup/known-lockers.ts'
import { readPins } from './setup/pinned.ts'
import { namedProfile, type Profile, profileAt } from './setup/profiles.ts'
import { agentAddress, gatewayUrl, readSettings, type Settings } from './setup/settings.ts'
import { findKeys, type Key } from './setup/wallet.ts'

/** Opens the session of a command. `fixed` takes precedence over the options of the command line. */
export type Open = (command: Command, fixed?: Pick<GlobalOptions, 'profile' | 'folder'>) => Promise<Session>

export interface GlobalOptions extends OutputOptions {
  profile?: string
  /** The folder of a profile, instead of its name. */
  folder?: string
  gateway?: string
  agent?: string
  wallet?: string
  locker?: string
  primaryRpc?: string
  evmRpc?: string
  yes?: boolean
  wait?: boolean
}

export interface Session {
  host: Host
  output: Output
  profile: Profile
  /** The folder of the profile. */
  folder: string
  settings: Settings
  gateway: string
  /** The available keys; may be empty. */
  keys(): Promise<Key[]>
  /** The key that acts for a locker: the owner's key if available, else the first key, which may be an operator's. */
  keyFor(owner: string | null): Promise<Key>
  /** Without a key, the client can only call public endpoints. */
  client(key?: Key): Promise<Client>
  /** The address of the agent service. */
  agent(): string
  agentClient(key?: Key): Promise<AgentClient>
  journal(): Promise<Journal>
  /** The locker of the command: the wanted one, or else the one in the settings. */
  locker(wanted?: string): Promise<NamedLocker>
  /** The option that a shown command needs to act on the same locker, with a space before it; empty for the default. */
  lockerOption: string
  /** A client with the key that acts for the locker. */
  lockerClient(locker: NamedLocker): Promise<Client>
  confirm(question: string): Promise<boolean>
  /** Whether `confirm` answers yes without asking. */
  isYes: boolean
  /** Whether to wait for slow storage without a limit. */
  mayWait: boolean
}

export async function openSession(host: Host, options: GlobalOptions): Promise<Session> {
  const { env, signal } = host
  const output = createOutput(host, options)
  const profile = options.folder === undefined ? await namedProfile(env, options.profile) : profileAt(options.folder)
  const { folder } = profile
  const isNamed = options.profile !== undefined
  const settings = await readSettings(folder, env, settingOptions(options), { isFileFirst: isNamed })
  const gateway = gatewayUrl(settings.gateway?.value ?? '')
  const onRetry = retryNotice(output.note, host.now)

  // If the user names a profile or a wallet, its key is the only one: SVC_EVM_KEY is ignored.
  const { SVC_EVM_KEY: _, ...others } = env
  const keys = () => findKeys(isNamed && settings.wallet ? others : env, settings.wallet)
  async function keyFor(owner: string | null): Promise<Key> {
    const all = await keys()
    const key = all.find(({ address }) => address === owner) ?? all[0]
    if (key) return key
    throw new UsageError(
      'this command needs a wallet',
      '`svc wallet new` creates a wallet; --wallet FILE, SVC_WALLET, SVC_EVM_KEY or `svc config set wallet FILE` names an existing one',
    )
  }

  async function journal(): Promise<Journal> {
    await openFolder(folder)
    const { fileJournal } = await import('@svc/sdk/node')
    return fileJournal(join(folder, 'journal'))
  }

  async function clientOptions(baseUrl: string, key: Key | undefined): Promise<ClientOptions> {
    if (baseUrl.startsWith('http:') && !isPrivateHost(baseUrl))
      output.warn(`${baseUrl} does not use encryption: others in the network can read the traffic`)
    const pins = await readPins(folder, baseUrl)
    return {
      baseUrl,
      ...(key && { signer: key.signer }),
      ...(pins && { pinnedKeys: pins.read, recoveryKeys: pins.listed.recovery }),
      ...(pins?.domain_tag && { domainTag: pins.domain_tag }),
      journal: await journal(),
      onWarning: (text) => output.warn(shown(text)),
      onRetry,
      retryStorageFor: options.wait ? 'forever' : 'seconds',
    }
  }

  async function client(key?: Key): Promise<Client> {
    const options = await clientOptions(gateway, key)
    // Loaded on demand: commands that need no gateway start faster and provably make no request.
    const { createClient } = await import('@svc/sdk')
    return createClient(options)
  }

  const agent = () => agentAddress(settings, gateway)
  async function agentClient(key?: Key): Promise<AgentClient> {
    const options = await clientOptions(agent(), key)
    const { createAgentClient } = await import('@svc/sdk')
    return createAgentClient(options)
  }

  return {
    host,
    output,
    profile,
    folder,
    settings,
    gateway,
    keys,
    keyFor,
    client,
    agent,
    agentClient,
    journal,
    locker: async (wanted = settings.locker?.value) => findLocker(await knownLockers(folder), gateway, wanted ?? null),
    lockerOption: options.locker === undefined ? '' : ` -l ${shellWord(options.locker)}`,
    mayWait: options.wait ?? false,
    isYes: options.yes ?? false,
    lockerClient: async ({ owner }) => client(await keyFor(owner)),
    confirm: (question) => {
      signal.throwIfAborted()
      return confirm(host, options.yes ?? false, question)
    },
  }
}

function settingOptions({ gateway, agent, wallet, locker, primaryRpc, evmRpc }: GlobalOptions) {
  return {
    ...(gateway !== undefined && { gateway }),
    ...(agent !== undefined && { agent }),
    ...(wallet !== undefined && { wallet }),
    ...(locker !== undefined && { locker }),
    ...(primaryRpc !== undefined && { 'primary-rpc': primaryRpc }),
    ...(evmRpc !== undefined && { 'evm-rpc': evmRpc }),
  }
}
