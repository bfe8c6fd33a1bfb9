// What can go wrong between a client and the store, on demand.

import type { ConnectionMishap, Fault as FaultOf } from '../http/faults.ts'

export type Mishap =
  | ConnectionMishap
  /** Refuses the request; `reason` names quotas and permissions. */
  | { status: number; reason?: string }
  /** Answers 200 with HTML instead of the API's JSON. */
  | 'nonsense'
  /** Keeps only so many bytes of a chunk, as the store may, and says so. */
  | { keepOfChunk: number }
  /** Claims to have kept so many bytes of an upload, which is not true. */
  | { claimKept: number }

export type Fault = FaultOf<Mishap>
