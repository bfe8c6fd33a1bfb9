// Where people can look at a transaction.

import { isPrivateHost } from './local-services.ts'

/** By friendly name and by CAIP-2 id. */
const EXPLORERS: Readonly<Record<string, (tx: string) => string>> = {
  'primary-mainnet': solanaExplorer(''),
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': solanaExplorer(''),
  'primary-devnet': solanaExplorer('?cluster=devnet'),
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': solanaExplorer('?cluster=devnet'),
  'evm-mainnet': evmExplorer,
  'eip155:143': evmExplorer,
}

export interface ShownTransaction {
  /** CAIP-2 id, or the name that receipts use. */
  network: string
  tx: string
  /** The address of the service that named it. One on this machine or network uses a local chain. */
  service: string
}

/** The page of a transaction on a public chain; null for local chains and unknown ones. */
export function explorerUrl({ network, tx, service }: ShownTransaction): string | null {
  // A transaction id comes from a service, so it must not become anything else in a URL.
  if (isPrivateHost(service) || !/^(0x)?[0-9A-Za-z]+$/.test(tx)) return null
  return Object.hasOwn(EXPLORERS, network) ? (EXPLORERS[network]?.(tx) ?? null) : null
}

function solanaExplorer(query: string) {
  return (tx: string) => `https://explorer.solana.com/tx/${tx}${query}`
}

function evmExplorer(tx: string): string {
  return `https://monadscan.com/tx/${tx}`
}
