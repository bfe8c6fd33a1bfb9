import { invalidParams } from '../rpc-error.ts'

/** Decides the timestamp of the next block. EDR has no injectable clock: the chain sets the time before each block. */
export type BlockClock = {
  /** Seconds: the pinned time, or the clock's, never before the head. */
  next(headTime: number): number
  /** Seconds: the clock's, never before the head. */
  present(headTime: number): number
  /** evm_setNextBlockTimestamp: for one block. */
  pin(time: number): void
  unpin(): void
  /** evm_increaseTime: from now on. Returns the total shift, as hardhat does. */
  increase(params: readonly unknown[]): string
}

export function createBlockClock(now: () => number): BlockClock {
  let shift = 0
  let pinned: number | undefined
  const present = (headTime: number) => Math.max(headTime, seconds(now()) + shift)
  return {
    next: (headTime) => pinned ?? present(headTime),
    present,
    pin(time) {
      pinned = time
    },
    unpin() {
      pinned = undefined
    },
    increase([by]) {
      const step = typeof by === 'string' || typeof by === 'number' ? Number(by) : Number.NaN
      if (!Number.isSafeInteger(step) || step < 0) {
        throw invalidParams('evm_increaseTime: expected a whole number of seconds, 0 or more')
      }
      shift += step
      return String(shift)
    },
  }
}

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
