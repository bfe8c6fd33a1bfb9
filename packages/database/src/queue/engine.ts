// What an engine, which stores jobs, has to do. There are two: a table on SQLite, pg-boss on PostgreSQL.

import type { Tx } from './queue.ts'

/** A run that did not renew its lease for this long is over, and any process may take its job. */
export const LEASE_SECONDS = 30

export const FIRST_RETRY_SECONDS = 5
export const MAX_RETRY_SECONDS = 3600

/** Doubles with each attempt, with random extra time up to as much again, so that jobs do not retry together. */
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

export interface TakenJob extends Job {
  /** 1 for the first run. */
  attempt: number
  /** Names this run. It is void once another process takes the job. */
  lease: string
}

export interface StateCount {
  kind: string
  state: 'waiting' | 'delayed' | 'running'
  count: number
}

/** A job as it is stored, for people to look at. */
export interface StoredJob extends Omit<Job, 'maxAttempts'> {
  state: StateCount['state']
  /** Runs begun. */
  attempts: number
  /** Unix milliseconds. */
  dueAt: number
}

interface JobPage {
  state: StateCount['state']
  kind: string | null
  /** The last of the page before. */
  after: { dueAt: number; id: string } | null
  limit: number
}

export interface Engine {
  /** False when a job of the same kind and key waits. */
  insert(tx: Tx, job: NewJob): Promise<boolean>
  take(kind: string, limit: number): Promise<TakenJob[]>
  /** False, as for `remove` and `retryLater`, when the lease is no longer held. */
  renew(job: TakenJob): Promise<boolean>
  /** Deletes the job, and locks it until the transaction ends. */
  remove(tx: Tx, job: TakenJob): Promise<boolean>
  retryLater(job: TakenJob): Promise<boolean>
  /** Makes the job available at once, without counting the run. */
  release(job: TakenJob): Promise<void>
  /** Makes jobs whose lease has expired available, where the engine does not do so by itself. */
  expireLeases(): Promise<void>
  counts(): Promise<StateCount[]>
  /** The next due first. */
  list(page: JobPage): Promise<StoredJob[]>
  find(id: string): Promise<StoredJob | null>
  /** Calls `wake` when there are new jobs of a kind. */
  listen(wake: (kind: string) => void): Promise<void>
  close(): Promise<void>
}

/** Who has a job is noted in any case; jobs wait for the database to be current when they run. */
export const WHILE_BEHIND = { whileBehind: true }
