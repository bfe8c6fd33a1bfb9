// What can go wrong between a client and Firestore, on demand.

import type { ConnectionMishap, Fault as FaultOf } from '../http/faults.ts'

export type Mishap =
  | Exclude<ConnectionMishap, { cutBodyAt: number }>
  /** Answers with this gRPC status instead of executing the call. */
  | { status: number; message?: string }
  /** The connection breaks at once. */
  | 'cut'
  /** The connection breaks after so many bytes of the request. */
  | { cutRequestAt: number }

/** `at` matches the call's method: `Commit`, `BatchGetDocuments`, `RunQuery`. */
export type Fault = FaultOf<Mishap>
