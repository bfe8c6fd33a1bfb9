// What the two ways of keeping jobs have to do; everything else about them is the same.

import type { Tx } from './queue.ts'

/** A run whose process was silent for so long is over, and its job anybody's. */
export const LEASE_SECONDS = 30

export interface Job {
  id: string
  kind: string
  key: string | null
  /** JSON. */
  payload: string
  maxAttempts: number | null
}

interface NewJob extends Job {
  delaySeconds: number
}

export interface TakenJob extends Job {
  /** 1 for the first. */
  attempt: number
  /** Ends when somebody else takes the job. */
  lease: string
}

export interface StateCount {
  kind: string
  state: 'waiting' | 'delayed' | 'running'
  count: number
}

export interface Engine {
  /** False when one of the same kind and key waits. */
  insert(tx: Tx, job: NewJob): Promise<boolean>
  take(kind: string, limit: number): Promise<TakenJob[]>
  /** False, as in all that follow, when the lease is no longer held. */
  renew(job: TakenJob): Promise<boolean>
  /** Takes it away, and keeps others from it until the transaction ends. */
  remove(tx: Tx, job: TakenJob): Promise<boolean>
  tryLater(job: TakenJob): Promise<boolean>
  /** At once, and without counting the run. */
  giveBack(job: TakenJob): Promise<void>
  /** Makes the jobs of silent processes available, where that does not happen by itself. */
  expireLeases(): Promise<void>
  counts(): Promise<StateCount[]>
  /** Calls `wake` when jobs of a kind have come. */
  listen(wake: (kind: string) => void): Promise<void>
  close(): Promise<void>
}

// When a failed job is tried again; pg-boss does the same from the same two numbers.

export const FIRST_RETRY_SECONDS = 5
export const LONGEST_RETRY_SECONDS = 3600

/** Doubles with each attempt, and lasts up to twice as long by chance: what failed together does not come back together. */
export function retryDelaySeconds(attempt: number, randomBytes: (length: number) => Uint8Array): number {
  const chance = new DataView(Uint8Array.from(randomBytes(4)).buffer).getUint32(0) / 2 ** 32
  return Math.min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * (1 + chance))
}
