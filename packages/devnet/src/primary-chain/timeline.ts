// The chain's time and everything counted by it: slots, blocks, commitments and blockhashes.

import { hash } from 'node:crypto'
import { address, type Blockhash, getBase58Decoder } from '@solana/kit'
import { Clock, type LiteSVM } from 'litesvm'

export const SLOT_MS = 400
export const SLOTS_PER_EPOCH = 432_000
export const FIRST_SLOT = 440_208_000

export type Timeline = ReturnType<typeof createTimeline>

/**
 * A block comes every 400 ms, and a slot with every block; more slots come where the chain needs them before the clock
 * has moved (`addSlot`). So block height and the lifetime of a blockhash depend on time alone. Time never runs backwards;
 * after a restart it continues from the chain's last time.
 */
export function createTimeline(now: () => number, genesisTime: number, resumeAt: number) {
  let ahead = Math.max(0, resumeAt - now())
  let latest = Math.max(genesisTime, resumeAt)
  let skippedBlocks = 0
  const addedSlots: number[] = []

  const heightAt = (time: number) => skippedBlocks + Math.max(0, Math.floor((time - genesisTime) / SLOT_MS))
  const slotAt = (time: number) => FIRST_SLOT + heightAt(time) + countUpTo(addedSlots, time)

  return {
    genesisTime,
    time(): number {
      latest = Math.max(latest, Math.floor(now() + ahead))
      return latest
    },
    advance(milliseconds: number) {
      ahead += milliseconds
    },
    skipBlocks(count: number) {
      skippedBlocks += count
    },
    addSlot(time: number) {
      addedSlots.push(time)
    },
    /** After a restart: adds the slots of past transactions, and those that had come between them. */
    restore(transactions: readonly { slot: number; time: number }[]) {
      for (const [index, { slot, time }] of transactions.entries())
        if (slot !== transactions[index - 1]?.slot) addedSlots.push(time)
      const last = transactions.at(-1)
      while (last && slotAt(last.time) < last.slot) addedSlots.push(last.time)
    },
    heightAt,
    slotAt,
    /** Of the block in a slot. */
    heightOf: (slot: number) =>
      slot - FIRST_SLOT - addedSlots.findLastIndex((time, index) => FIRST_SLOT + heightAt(time) + index < slot) - 1,
  }
}

/** How many of the ascending `times` are at or before `time`. */
function countUpTo(times: readonly number[], time: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low
}

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const
export type Commitment = (typeof COMMITMENTS)[number]

/** The chain as seen at one commitment: everything up to its slot, nothing later. */
export interface View {
  readonly commitment: Commitment
  readonly slot: number
  readonly height: number
  readonly time: number
}

/** How many slots after its own a transaction has reached a commitment. */
export type Ageing = Readonly<Record<Commitment, number>>
export const AT_ONCE: Ageing = { processed: 0, confirmed: 0, finalized: 0 }
export const LATER: Ageing = { processed: 0, confirmed: 1, finalized: 32 }

export function viewAt(timeline: Timeline, ageing: Ageing, commitment: Commitment): View {
  const age = ageing[commitment]
  const time = timeline.time() - age * SLOT_MS
  return { commitment, slot: timeline.slotAt(timeline.time()) - age, height: timeline.heightAt(time), time }
}

export const MAX_AGE_IN_BLOCKS = 150

export interface IssuedBlockhash {
  readonly blockhash: Blockhash
  readonly slot: number
  readonly height: number
}

/**
 * The issued blockhashes. litesvm accepts only its newest blockhash, so its own check is off and a transaction's
 * lifetime is checked here, by block height as on a real chain.
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
    isValid(blockhash: string, view: Pick<View, 'slot' | 'height'>): boolean {
      const entry = issued.get(blockhash)
      return entry !== undefined && entry.slot <= view.slot && !isExpired(entry, view.height)
    },
  }
}

export function lastValidBlockHeight(issued: IssuedBlockhash): number {
  return issued.height + MAX_AGE_IN_BLOCKS
}

function blockhashOfSlot(genesisTime: number, slot: number): Blockhash {
  const digest = hash('sha256', `svc primary chain/${genesisTime}/${slot}`, 'buffer')
  return getBase58Decoder().decode(digest) as Blockhash // 32 bytes in base58 are a blockhash by definition
}

export const CLOCK_SYSVAR = address('SysvarC1ock11111111111111111111111111111111')
export const LOOKUP_TABLE_PROGRAM = address('AddressLookupTab1e1111111111111111111111111')
const SLOT_HASHES = 512

/** Sets the clock that programs see. */
export function setClock(svm: LiteSVM, timeline: Timeline, slot: number, time: number) {
  const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH))
  const seconds = (milliseconds: number) => BigInt(Math.floor(milliseconds / 1000))
  svm.setClock(new Clock(BigInt(slot), seconds(timeline.genesisTime), epoch, epoch + 1n, seconds(time)))
}

/** Creating a lookup table needs a recent slot. The list is expensive to write, so it is set only when needed. */
export function setSlotHashes(svm: LiteSVM, timeline: Timeline, slot: number) {
  const slots = Array.from({ length: SLOT_HASHES }, (_, age) => slot - 1 - age)
  svm.setSlotHashes(slots.map((past) => ({ slot: BigInt(past), hash: blockhashOfSlot(timeline.genesisTime, past) })))
}
