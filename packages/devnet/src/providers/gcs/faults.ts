// What can go wrong between a client and the store, on demand.

export type Mishap =
  /** Answers so instead of doing anything; quotas and permissions are told by `reason`. */
  | { status: number; reason?: string }
  /** Answers what is no answer. */
  | 'nonsense'
  /** Takes the request and never answers. */
  | 'silence'
  /** Does what it is asked to, and the connection breaks before the answer. */
  | 'lost answer'
  /** The connection breaks when so much of the request's body has come. */
  | { cutBodyAt: number }
  /** The connection breaks when so much of an object has been given. */
  | { cutAnswerAt: number }
  /** No more is given from there on, and the connection stays. */
  | { stallAnswerAt: number }
  /** Keeps only so much of a chunk, as the store may, and says so. */
  | { keepOfChunk: number }
  /** Says that so much of an upload has been kept, which is not so. */
  | { claimKept: number }

export interface Fault {
  /** Which requests it strikes, by `METHOD /path?query`. */
  at: RegExp
  mishap: Mishap
  /** How many are spared before. */
  after?: number
  /** How many of them; all by default. */
  times?: number
}

export interface Faults {
  add(fault: Fault): void
  clear(): void
  /** What is to go wrong with this request, if anything. */
  strike(line: string): Mishap | null
}

export function createFaults(): Faults {
  let faults: (Fault & { spared: number; left: number })[] = []
  return {
    add(fault) {
      faults.push({ ...fault, spared: fault.after ?? 0, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    clear() {
      faults = []
    },
    strike(line) {
      const struck = faults.find(({ at, left }) => left > 0 && at.test(line))
      if (!struck || struck.spared-- > 0) return null
      struck.left--
      return struck.mishap
    },
  }
}
