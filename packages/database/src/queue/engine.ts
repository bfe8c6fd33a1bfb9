// The interface of an engine, which stores jobs. There are two: a table on SQLite, and pg-boss on PostgreSQL.

import type { Tx } from './queue.ts'

/** A run that did not renew its lease for this long has ended, and any process may claim its job. */
export const LEASE_SECONDS = 30

export const FIRST_RETRY_SECONDS = 5
export const MAX_RETRY_SECONDS = 3600

/** Doubles with each attempt and adds a random time of up to as much, so that jobs do not retry together. */
export function retryDelaySeconds(attempt: number, randomBytes: (length: number) => Uint8Array): number {
  const random = new DataView(Uint8Array.from(randomBytes(4)).buffer).getUint32(0) / 2 ** 32
  return Math.min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * (1 + random))
}

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

export interface ClaimedJob extends Job {
  /** 1 for the first run. */
  attempt: number
  /** Identifies this run. Invalid once another process claims the job. */
  lease: string
}

export interface StateCount {
  kind: string
  state: 'waiting' | 'delayed' | 'running'
  count: number
}

/** A stored job, to show to people. */
export interface StoredJob extends Omit<Job, 'maxAttempts'> {
  state: StateCount['state']
  /** The number of runs that began. */
  attempts: number
  /** Unix milliseconds. */
  dueAt: number
}

interface JobPage {
  state: StateCount['state']
  kind: string | null
  /** The last job of the previous page. */
  after: { dueAt: number; id: string } | null
  limit: number
}

export interface Engine {
  /** False when a job of the same kind and key waits. */
  insert(tx: Tx, job: NewJob): Promise<boolean>
  claim(kind: string, limit: number): Promise<ClaimedJob[]>
  /** False when the lease is no longer valid; the same holds for `remove` and `retryLater`. */
  renew(job: ClaimedJob): Promise<boolean>
  /** Deletes the job, and locks it until the transaction ends. */
  remove(tx: Tx, job: ClaimedJob): Promise<boolean>
  retryLater(job: ClaimedJob): Promise<boolean>
  /** Makes the job available immediately, without counting the run. */
  release(job: ClaimedJob): Promise<void>
  /** Makes jobs with an expired lease available, if the engine does not do so itself. */
  expireLeases(): Promise<void>
  counts(): Promise<StateCount[]>
  /** Ordered by due time, the earliest first. */
  list(page: JobPage): Promise<StoredJob[]>
  find(id: string): Promise<StoredJob | null>
  /** Calls `wake` when there are new jobs of a kind. */
  listen(wake: (kind: string) => void): Promise<void>
  close(): Promise<void>
}

/** Leases are recorded even while the database may be behind; the jobs themselves wait until it is current. */
export const WHILE_BEHIND = { whileBehind: true }
