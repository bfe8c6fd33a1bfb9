/** One line of the performance table: a measurement and its baseline, in the same run on the same machine. */
export interface Row {
  what: string
  measured: string
  against: string
  ratio: number
  /** The ratio to reach. */
  goal: { atLeast: number } | { atMost: number }
  /** The chart of all compared servers for the picture. */
  chart?: Chart
}

export interface Chart {
  title: string
  unit: string
  bars: readonly Bar[]
}

interface Bar {
  name: string
  /** What the server has done with the bytes when it answers. */
  does: string
  /** Null if the server cannot do this. */
  value: number | null
}

export function isGoalMet({ ratio, goal }: Row): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] as number
}

/** Of several rates. Other work on the machine, or on the machine under it, only lowers them. */
export function best(rates: readonly number[]): number {
  return Math.max(...rates)
}

/** Alternates two tasks, so that a slow moment affects both, and returns the median seconds of each. */
export function compareSeconds(rounds: number, ours: () => void, theirs: () => void): { ours: number; theirs: number } {
  const seconds = (run: () => void) => {
    const start = performance.now()
    run()
    return (performance.now() - start) / 1000
  }
  const pairs = Array.from({ length: rounds }, () => ({ ours: seconds(ours), theirs: seconds(theirs) }))
  return { ours: median(pairs.map((pair) => pair.ours)), theirs: median(pairs.map((pair) => pair.theirs)) }
}
