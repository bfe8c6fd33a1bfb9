// The faults that a test can plan for the Firestore server.

import type { ConnectionFault, FaultPlan as HttpFaultPlan } from '../http/faults.ts'

export type Fault =
  | Exclude<ConnectionFault, { cutBodyAt: number } | { flipBodyAt: number }>
  /** Answers with this gRPC status instead of executing the call. */
  | { status: number; message?: string }
  /** The connection breaks at once. */
  | 'cut'
  /** The connection breaks after this many bytes of the request. */
  | { cutRequestAt: number }

/** `at` matches the call's method: `Commit`, `BatchGetDocuments`, `RunQuery`. */
export type FaultPlan = HttpFaultPlan<Fault>
