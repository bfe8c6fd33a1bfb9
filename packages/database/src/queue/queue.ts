// The public interface of the queue.

import type { Transaction } from 'kysely'
import type { QueueTables } from './tables.ts'

export type Tx = Transaction<QueueTables>

/** Runs in one transaction with the completion of its job: both happen exactly once, or neither does. */
export type Effect = (tx: Tx) => Promise<void>

export interface JobRun {
  id: string
  /** 1 for the first run. */
  attempt: number
  /** Whether the job is a dead letter if this run fails. */
  isLast: boolean
  /** Aborted when this run no longer counts because another process has claimed, or will claim, the job. */
  signal: AbortSignal
}

/**
 * Does the slow part and returns the effect to write. A run may be interrupted at any point and restarted elsewhere,
 * even while the first still runs; only one run writes its effect.
 */
type Handler<Payload> = (payload: Payload, run: JobRun) => Promise<Effect>

interface HandleOptions {
  /** The number of parallel runs in this process; 1 by default. */
  concurrency?: number
  /** The number of runs before the job becomes a dead letter. */
  maxAttempts?: number
}

interface EnqueueOptions {
  /**
   * While a job of the same kind and key waits, no other is added. A running job does not count: it started too early.
   */
  key?: string
  delaySeconds?: number
  /** Overrides the handler's. */
  maxAttempts?: number
}

interface DeadLetter {
  id: string
  kind: string
  payload: unknown
  error: string
  attempts: number
  failed_at: string
}

/** A job, to show to people. */
export interface ListedJob {
  id: string
  kind: string
  key: string | null
  payload: unknown
  state: keyof JobCounts
  /** The number of runs that began. */
  attempts: number
  /** Unix milliseconds: when the job is due, or when it failed permanently. */
  at: number
  /** The error of a dead job. */
  error: string | null
}

interface JobListPage {
  state: keyof JobCounts
  kind: string | null
  /** The last job of the previous page. */
  after: { at: number; id: string } | null
  limit: number
}

export interface JobCounts {
  /** Due. */
  waiting: number
  /** Not yet due, or waiting for a retry. */
  delayed: number
  running: number
  dead: number
}

export interface Drained {
  done: number
  /** Failed runs that will be retried. */
  failed: number
  dead: number
}

/** `Jobs` maps each kind to the payload of its jobs, which is JSON. */
export interface Queue<Jobs> {
  /**
   * Adds a job as part of the transaction. Null when a job of the same kind and key waits; that job then runs after
   * this transaction. Call it last: on PostgreSQL a key stays locked until the transaction ends.
   */
  enqueue<Kind extends keyof Jobs & string>(
    tx: Tx,
    kind: Kind,
    payload: Jobs[Kind],
    options?: EnqueueOptions,
  ): Promise<string | null>
  handle<Kind extends keyof Jobs & string>(kind: Kind, options: HandleOptions, handler: Handler<Jobs[Kind]>): void
  /** Enqueues a job once per period, however many processes call this; the first immediately. One schedule per kind. */
  every<Kind extends keyof Jobs & string>(seconds: number, kind: Kind, payload: Jobs[Kind]): void
  start(): Promise<void>
  /** Stops claiming jobs, waits up to `graceMs` for running ones, and releases the rest. */
  stop(options?: { graceMs?: number }): Promise<void>
  /** Runs due jobs until none is left, even if workers were never started. */
  drain(): Promise<Drained>
  /** The newest first. */
  deadLetters(limit?: number): Promise<DeadLetter[]>
  /** Enqueues the dead letter as a new job; false when it does not exist. */
  retryDead(id: string): Promise<boolean>
  /**
   * Like `retryDead`, inside a caller's transaction. `id` belongs to the new job; it is null when a job of its kind and
   * key waits.
   */
  retryDeadIn(tx: Tx, id: string): Promise<{ id: string | null } | null>
  /** False when the dead letter does not exist. */
  deleteDeadIn(tx: Tx, id: string): Promise<boolean>
  /** Jobs in one state: dead ones newest first, others in the order in which they are due. */
  list(page: JobListPage): Promise<ListedJob[]>
  find(id: string): Promise<ListedJob | null>
  /** Deletes dead letters that are older than ninety days. */
  deleteOldDead(): Promise<void>
  /** Counts for every kind that has a handler here or has jobs. */
  counts(): Promise<Record<string, JobCounts>>
}

/** Thrown by a handler when a retry would not help. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}
