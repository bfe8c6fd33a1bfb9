// The entry of a receipt in the EVM registry, and its encoding by the contract (ANCH-12).

import { MERKLE_REGISTRY_ABI } from '@svc/contracts/merkle-registry'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { evmRegistryKey } from '@svc/protocol/ids'
import { encodeFunctionData, type Hex, zeroHash } from 'viem'

export interface RegistryEntry {
  merkle_root: string
  /** The slot of the statement's anchor on the primary chain; 0 without an anchor. */
  slot: number
  file_count: number
  /** Unix seconds. */
  attested_at: number
}

export function registryKey(receiptId: string): Hex {
  return evmRegistryKey(receiptId) as Hex // starts with 0x
}

export function encodeEntry(receiptId: string, { merkle_root, slot, file_count, attested_at }: RegistryEntry): Hex {
  return encodeFunctionData({
    abi: MERKLE_REGISTRY_ABI,
    functionName: 'anchorMerkle',
    args: [registryKey(receiptId), `0x${bare(merkle_root)}`, BigInt(slot), file_count, BigInt(attested_at)],
  })
}

type Answer = readonly [root: Hex, slot: bigint, fileCount: number, attestedAt: bigint]

/** Null if the registry has no entry. */
export function decodeEntry([root, slot, fileCount, attestedAt]: Answer): RegistryEntry | null {
  if (root === zeroHash) return null
  return {
    merkle_root: withPrefix(root.slice(2)),
    slot: Number(slot),
    file_count: fileCount,
    attested_at: Number(attestedAt),
  }
}

export function isSameEntry(a: RegistryEntry, b: RegistryEntry): boolean {
  return (
    bare(a.merkle_root) === bare(b.merkle_root) &&
    a.slot === b.slot &&
    a.file_count === b.file_count &&
    a.attested_at === b.attested_at
  )
}
