import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { localNode } from '@svc/sdk/local-services'
import * as keys from '@svc/sdk/node'
import { homeFolder } from '@svc/sdk/user-folder'
import { Failure, UsageError } from '../errors.ts'
import type { Environment } from '../host.ts'
import { shellWord } from '../output/shell-word.ts'
import { configFolder } from './folder.ts'
import { type Setting, type Settings, webAddress } from './settings.ts'

/** The available keys. A key named by option is the only one. */
export async function findKeys(env: Environment, wallet: Setting | null): Promise<Key[]> {
  const keys = wallet ? [await keyInFile(wallet.value)] : []
  if (wallet?.from !== '--wallet' && env.SVC_EVM_KEY) keys.push(keyInVariable(env.SVC_EVM_KEY))
  if (keys.length > 0) return keys
  const usual = defaultFile(env)
  return usual && (await exists(usual)) ? [await keyInFile(usual)] : []
}

/** The files that may contain keys, and the folder of svc, which contains the keys of all profiles. */
export function keyFiles(env: Environment, wallet: Setting | null): string[] {
  return [configFolder(env), wallet?.value, defaultFile(env)].filter((path) => typeof path === 'string')
}

/** The default key file of the Solana tools. */
function defaultFile(env: Environment): string | null {
  const home = homeFolder(env)
  return home && join(home, '.config', 'solana', 'id.json')
}

function keyInVariable(text: string): Key {
  const key = keyInText(text, 'SVC_EVM_KEY')
  if (key.namespace !== 'eip155') throw new UsageError('SVC_EVM_KEY holds no EVM key')
  return key
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export interface Key extends keys.Key {
  address: string
  /** The file or variable with the key, as text for users. */
  from: string
}

async function keyInFile(path: string): Promise<Key> {
  const key = await keys.readKeyFile(path).catch(failed(path))
  return { ...key, address: key.signer.address, from: path }
}

export function keyInText(text: string, from: string): Key {
  try {
    const key = keys.parseKey(text, from)
    return { ...key, address: key.signer.address, from }
  } catch (error) {
    return failed(from)(error)
  }
}

function failed(from: string) {
  return (error: unknown): never => {
    if (!(error instanceof keys.KeyFileError)) throw error
    throw new Failure(`the wallet cannot be used: ${error.message}`, hintFor(error.code, from))
  }
}

function hintFor(code: keys.KeyFileError['code'], from: string): string {
  switch (code) {
    case 'readable_by_others':
      return `chmod 600 ${shellWord(from)}`
    case 'encrypted':
      return 'export the plain key to a file with mode 600, and name that file'
    default:
      return 'name a key file with --wallet or SVC_WALLET'
  }
}

const NODES = {
  solana: { setting: 'primary-rpc', chain: 'the primary chain' },
  eip155: { setting: 'evm-rpc', chain: 'the EVM chain' },
} as const

/** The node that a key pays through. For a local gateway the default is the node that `npm start` starts. */
export function nodeFor({ namespace }: Pick<Key, 'namespace'>, settings: Settings, gateway: string): string {
  const { setting, chain } = NODES[namespace]
  const given = settings[setting]
  if (given) return webAddress(given.value, `a node of ${chain}`)
  const local = localNode(namespace, gateway)
  if (local !== null) return local
  throw new UsageError(
    `a payment needs a node of ${chain}`,
    `give one with --${setting} or \`svc config set ${setting} URL\``,
  )
}
