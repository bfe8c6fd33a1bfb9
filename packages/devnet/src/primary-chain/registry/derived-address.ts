import { hash } from 'node:crypto'
import { type Address, address, getAddressDecoder, getAddressEncoder } from '@solana/kit'
import { isOnCurve } from '@svc/protocol/keys'
import { REGISTRY_PROGRAM } from '@svc/protocol/registry'
import { ProgramFailure } from './failure.ts'

export const REGISTRY = address(REGISTRY_PROGRAM)

const MAX_SEED_BYTES = 32

export interface DerivedAddress {
  readonly address: Address
  /** With the bump as the last: what the program signs with. */
  readonly seeds: readonly Uint8Array[]
}

/** kit derives asynchronously, and a transaction runs in one go. */
export function deriveAddress(prefix: string, ...rest: readonly Uint8Array[]): DerivedAddress {
  const seeds = [Buffer.from(prefix), ...rest]
  if (seeds.some((seed) => seed.length > MAX_SEED_BYTES))
    throw new ProgramFailure('Panic', 'a seed of an address is longer than 32 bytes')
  for (let bump = 255; bump >= 0; bump--) {
    const withBump = [...seeds, Uint8Array.of(bump)]
    const preimage = Buffer.concat([...withBump, addressBytes(REGISTRY), Buffer.from('ProgramDerivedAddress')])
    const candidate = hash('sha256', preimage, 'buffer')
    if (!isOnCurve(candidate)) return { address: getAddressDecoder().decode(candidate), seeds: withBump }
  }
  throw new ProgramFailure('Panic', 'no address can be derived from these seeds')
}

export function addressBytes(of: Address): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(of))
}
