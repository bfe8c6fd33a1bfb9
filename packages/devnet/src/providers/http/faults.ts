// What can go wrong between a client and a provider server, on demand. Each server adds faults of its own.

/** Faults of the connection, which every HTTP server here can have. */
export type ConnectionMishap =
  /** Accepts the request and never answers. */
  | 'silence'
  /** Executes the request; the connection breaks before the answer. */
  | 'lost answer'
  /** The connection breaks after so many bytes of the request's body. */
  | { cutBodyAt: number }
  /** The connection breaks after so many bytes of the answer. */
  | { cutAnswerAt: number }
  /** The answer stops after so many bytes, and the connection stays open. */
  | { stallAnswerAt: number }

export type Mishap =
  | ConnectionMishap
  /** Refuses the request: before asking for its body, or after the body has arrived. */
  | { status: number; code: string; afterBody?: true }

export interface Fault<M = Mishap> {
  /** Which requests fail: `METHOD /path?query` over HTTP, the method's name in gRPC. */
  at: RegExp
  mishap: M
  /** How many matching requests pass first; none by default. */
  after?: number
  /** How many then fail; all by default. */
  times?: number
}

export interface Faults<M = Mishap> {
  add(fault: Fault<M>): void
  clear(): void
  /** What goes wrong with this request; null when nothing does. */
  strike(line: string): M | null
}

export function createFaults<M = Mishap>(): Faults<M> {
  let faults: (Fault<M> & { spared: number; left: number })[] = []
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
