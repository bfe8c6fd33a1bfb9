export const SLOT_MS = 400
export const SLOTS_PER_EPOCH = 432_000
const FIRST_SLOT = 440_208_000

export type Timeline = ReturnType<typeof createTimeline>

/**
 * The chain's time and what is counted by it. A block comes every 400 ms; a slot with every block and with every
 * transaction, so that each transaction has a slot of its own while block height, and with it the life of a blockhash,
 * depends on time alone. Time never runs backwards, and after a restart goes on from where the chain had got to.
 */
export function createTimeline(now: () => number, genesisTime: number, resumeAt: number) {
  let ahead = Math.max(0, resumeAt - now())
  let latest = Math.max(genesisTime, resumeAt)
  let skippedBlocks = 0
  const transactionTimes: number[] = []

  const heightAt = (time: number) => skippedBlocks + Math.max(0, Math.floor((time - genesisTime) / SLOT_MS))

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
    countTransaction(time: number) {
      transactionTimes.push(time)
    },
    transactionCount: () => transactionTimes.length,
    heightAt,
    slotAt: (time: number) => FIRST_SLOT + heightAt(time) + countUpTo(transactionTimes, time),
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
