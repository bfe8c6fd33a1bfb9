// The faults that a test can plan for a provider server. Each server adds its own.

/** Faults of the connection, which every HTTP server here can have. */
export type ConnectionFault =
  /** Accepts the request and never answers. */
  | 'silence'
  /** Executes the request; the connection breaks before the answer. */
  | 'lost answer'
  /** The connection breaks after this many bytes of the request's body. */
  | { cutBodyAt: number }
  /** A bit of this byte of the request's body changes on its way. */
  | { flipBodyAt: number }
  /** The connection breaks after this many bytes of the answer. */
  | { cutAnswerAt: number }
  /** The answer stops after this many bytes, and the connection stays open. */
  | { stallAnswerAt: number }

export type Fault =
  | ConnectionFault
  /** Refuses the request: before asking for its body, or after the body has arrived. */
  | { status: number; code: string; afterBody?: true }

export interface FaultPlan<F = Fault> {
  /** Which requests fail: `METHOD /path?query` over HTTP, the method's name in gRPC. */
  at: RegExp
  fault: F
  /** How many matching requests succeed first; none by default. */
  after?: number
  /** How many matching requests fail after those; all by default. */
  times?: number
}

export interface Faults<F = Fault> {
  add(plan: FaultPlan<F>): void
  clear(): void
  /** Returns the fault of this request, or null when it succeeds. */
  take(line: string): F | null
}

export function createFaults<F = Fault>(): Faults<F> {
  let plans: (FaultPlan<F> & { passing: number; left: number })[] = []
  return {
    add(plan) {
      plans.push({ ...plan, passing: plan.after ?? 0, left: plan.times ?? Number.POSITIVE_INFINITY })
    },
    clear() {
      plans = []
    },
    take(line) {
      const plan = plans.find(({ at, left }) => left > 0 && at.test(line))
      if (!plan || plan.passing-- > 0) return null
      plan.left--
      return plan.fault
    },
  }
}
