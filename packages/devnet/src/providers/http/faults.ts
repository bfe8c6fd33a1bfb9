// What can go wrong between a client and the store, on demand.

export type Mishap =
  /** Answers so instead of doing anything: before it asks for a body, or when that has come. */
  | { status: number; code: string; afterBody?: true }
  /** Takes the request and never answers, nor reads its body. */
  | 'silence'
  /** Does what it is asked to, and the connection breaks before the answer. */
  | 'lost answer'
  /** The connection breaks when so much of the request's body has come. */
  | { cutBodyAt: number }
  /** The connection breaks when so much of an object has been given. */
  | { cutAnswerAt: number }
  /** No more is given from there on, and the connection stays. */
  | { stallAnswerAt: number }

export interface Fault {
  /** Which requests it strikes, by `METHOD /path?query`. */
  at: RegExp
  mishap: Mishap
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
  let faults: { fault: Fault; left: number }[] = []
  return {
    add(fault) {
      faults.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    clear() {
      faults = []
    },
    strike(line) {
      const struck = faults.find(({ fault, left }) => left > 0 && fault.at.test(line))
      if (!struck) return null
      struck.left--
      return struck.fault.mishap
    },
  }
}
