// Links to transactions in public explorers.

import { NETWORKS, PRIMARY } from '@svc/api/networks'
import { isPrivateHost } from './local-services.ts'

/** The network of older evidence. No purchase uses it any more. */
const SOLANA_DEVNET = ['primary-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1']

export interface ShownTransaction {
  /** CAIP-2 id, or the name that receipts use. */
  network: string
  tx: string
  /** The address of the service that named the transaction. A service on this machine or network uses a local chain. */
  service: string
}

/** The page of a transaction on a public chain. Null for local and unknown chains. */
export function explorerUrl({ network, tx, service }: ShownTransaction): string | null {
  // A transaction id comes from a service, so it must not become anything else in a URL.
  if (isPrivateHost(service) || !/^(0x)?[0-9A-Za-z]+$/.test(tx)) return null
  if (SOLANA_DEVNET.includes(network)) return `${PRIMARY.explorer}${tx}?cluster=devnet`
  const known = NETWORKS.find(({ name, caip2 }) => network === name || network === caip2)
  return known ? known.explorer + tx : null
}
