// Networks by the names that people know.

import { networkNamed } from '@svc/api/networks'
import { shown } from './shown.ts'

/** `Solana`, or an unknown name as it is. */
export function networkTitle(network: string): string {
  return networkNamed(network)?.title ?? shown(network)
}

/** `Solana`, or `Solana, local chain (worthless coins)`. */
export function networkText(network: string, { isLocal }: { isLocal: boolean }): string {
  return isLocal ? `${networkTitle(network)}, ${LOCAL_CHAIN}` : networkTitle(network)
}

export const LOCAL_CHAIN = 'local chain (worthless coins)'
