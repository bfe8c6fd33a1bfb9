import { hash } from 'node:crypto'
import { type Blockhash, getBase58Decoder } from '@solana/kit'
import type { View } from './commitments.ts'

const MAX_AGE_IN_BLOCKS = 150

export interface IssuedBlockhash {
  readonly blockhash: Blockhash
  readonly slot: number
  readonly height: number
}

/**
 * The table of blockhashes handed out. litesvm accepts its newest blockhash only, so its own check is off and a
 * transaction's lifetime is judged here, by block height as on a real chain.
 */
export function createBlockhashes(genesisTime: number, onIssue: (issued: IssuedBlockhash) => void) {
  const issued = new Map<string, IssuedBlockhash>()
  const isExpired = (entry: IssuedBlockhash, height: number) => height > lastValidBlockHeight(entry)

  return {
    issue(view: View): IssuedBlockhash {
      const blockhash = blockhashOfSlot(genesisTime, view.slot)
      const known = issued.get(blockhash)
      if (known) return known
      for (const [key, entry] of issued) {
        if (!isExpired(entry, view.height)) break
        issued.delete(key)
      }
      const entry = { blockhash, slot: view.slot, height: view.height }
      issued.set(blockhash, entry)
      onIssue(entry)
      return entry
    },
    restore(entry: IssuedBlockhash) {
      issued.set(entry.blockhash, entry)
    },
    isValid(blockhash: string, view: View): boolean {
      const entry = issued.get(blockhash)
      return entry !== undefined && entry.slot <= view.slot && !isExpired(entry, view.height)
    },
  }
}

export function lastValidBlockHeight(issued: IssuedBlockhash): number {
  return issued.height + MAX_AGE_IN_BLOCKS
}

export function blockhashOfSlot(genesisTime: number, slot: number): Blockhash {
  const digest = hash('sha256', `svc primary chain/${genesisTime}/${slot}`, 'buffer')
  return getBase58Decoder().decode(digest) as Blockhash // 32 bytes in base58 are a blockhash by definition
}
