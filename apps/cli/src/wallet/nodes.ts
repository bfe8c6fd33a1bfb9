import { localNode } from '@svc/sdk/local-services'
import { type Settings, webAddress } from '../config/settings.ts'
import { UsageError } from '../failures.ts'
import type { Key } from './key.ts'

const NODES = {
  solana: { setting: 'primary-rpc', chain: 'the primary chain' },
  eip155: { setting: 'evm-rpc', chain: 'the EVM chain' },
} as const

/** The node that a key pays through. A gateway on this machine has its chains on this machine, where `npm start` puts them. */
export function nodeFor({ namespace }: Pick<Key, 'namespace'>, settings: Settings, gateway: string): string {
  const { setting, chain } = NODES[namespace]
  const given = settings[setting]
  if (given) return webAddress(given.value, `a node of ${chain}`)
  const local = localNode(namespace, gateway)
  if (local !== null) return local
  throw new UsageError(
    `paying needs a node of ${chain}`,
    `give one with --${setting} or \`svc config set ${setting} URL\``,
  )
}
