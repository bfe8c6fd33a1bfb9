import { isPrivateHost } from '@svc/sdk/wallets/private-host'
import { type Settings, webAddress } from '../config/settings.ts'
import { UsageError } from '../failures.ts'
import type { Key } from './key.ts'

const NODES = {
  solana: { setting: 'primary-rpc', local: 'http://127.0.0.1:8899', chain: 'the primary chain' },
  eip155: { setting: 'evm-rpc', local: 'http://127.0.0.1:8545', chain: 'the EVM chain' },
} as const

/** The node that a key pays through. A gateway on this machine has its chains on this machine, where `npm start` puts them. */
export function nodeFor({ namespace }: Pick<Key, 'namespace'>, settings: Settings, gateway: string): string {
  const { setting, local, chain } = NODES[namespace]
  const given = settings[setting]
  if (given) return webAddress(given.value, `a node of ${chain}`)
  if (isPrivateHost(gateway)) return local
  throw new UsageError(
    `paying needs a node of ${chain}`,
    `give one with --${setting} or \`svc config set ${setting} URL\``,
  )
}
