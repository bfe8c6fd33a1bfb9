// The faults that a test can plan for the store.

import type { ConnectionFault, FaultPlan as HttpFaultPlan } from '../http/faults.ts'

export type Fault =
  | ConnectionFault
  /** Refuses the request; `reason` names quotas and permissions. */
  | { status: number; reason?: string }
  /** Answers 200 with HTML instead of the API's JSON. */
  | 'invalid response'
  /** Keeps only this many bytes of a chunk, as the store may, and reports it. */
  | { keepOfChunk: number }
  /** The session has expired: it and its bytes are gone. Such a request is answered with either status. */
  | { expireSession: 404 | 410 }
  /** Claims falsely to have kept this many bytes of an upload. */
  | { claimKept: number }

export type FaultPlan = HttpFaultPlan<Fault>
