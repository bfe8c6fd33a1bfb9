import { address } from '@solana/kit'
import { Clock, type LiteSVM } from 'litesvm'
import { blockhashOfSlot } from './blockhashes.ts'
import { SLOTS_PER_EPOCH, type Timeline } from './timeline.ts'

export const CLOCK_SYSVAR = address('SysvarC1ock11111111111111111111111111111111')
export const LOOKUP_TABLE_PROGRAM = address('AddressLookupTab1e1111111111111111111111111')
const SLOT_HASHES = 512

/** Lets programs see the chain's own time. */
export function setClock(svm: LiteSVM, timeline: Timeline, slot: number, time: number) {
  const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH))
  const seconds = (milliseconds: number) => BigInt(Math.floor(milliseconds / 1000))
  svm.setClock(new Clock(BigInt(slot), seconds(timeline.genesisTime), epoch, epoch + 1n, seconds(time)))
}

/** A lookup table is created under a recent slot. The list is costly to write, so it is brought up only when it is needed. */
export function setSlotHashes(svm: LiteSVM, timeline: Timeline, slot: number) {
  const slots = Array.from({ length: SLOT_HASHES }, (_, age) => slot - 1 - age)
  svm.setSlotHashes(slots.map((past) => ({ slot: BigInt(past), hash: blockhashOfSlot(timeline.genesisTime, past) })))
}
