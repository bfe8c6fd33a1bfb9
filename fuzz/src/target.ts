export interface FuzzOptions {
  seconds: number
  /** The same seed makes the same cases. */
  seed: number
}

export interface Finding {
  /** What is wrong, in one line. */
  problem: string
  /** How to see it again. */
  input: string
}

export interface FuzzResult {
  cases: number
  findings: Finding[]
  /** What a reader should know of a run that found nothing, in one line. */
  note?: string
}

/** Something that reads what strangers send. */
export interface FuzzTarget {
  name: string
  run(options: FuzzOptions): Promise<FuzzResult>
}
