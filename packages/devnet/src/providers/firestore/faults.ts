// What can go wrong between a client and Firestore, on demand.

export type Mishap =
  /** Answers with this gRPC status instead of doing anything. */
  | { status: number; message?: string }
  /** Takes the call and never answers. */
  | 'silence'
  /** Does what it is asked to, and the connection breaks before the answer. */
  | 'lost answer'
  /** The connection breaks at once. */
  | 'cut'
  /** The connection breaks when so much of the request has come. */
  | { cutRequestAt: number }
  /** The connection breaks when so much of the answer has been given. */
  | { cutAnswerAt: number }
  /** No more is given from there on, and the connection stays. */
  | { stallAnswerAt: number }

export interface Fault {
  /** Which calls it strikes, by method: `Commit`, `BatchGetDocuments`, `RunQuery`. */
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
  /** What is to go wrong with this call, if anything. */
  strike(method: string): Mishap | null
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
    strike(method) {
      const struck = faults.find(({ at, left }) => left > 0 && at.test(method))
      if (!struck || struck.spared-- > 0) return null
      struck.left--
      return struck.mishap
    },
  }
}
