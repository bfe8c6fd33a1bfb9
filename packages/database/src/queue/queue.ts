// The queue as its users see it.

import type { Transaction } from 'kysely'
import type { QueueTables } from './tables.ts'

export type Tx = Transaction<QueueTables>

/** Runs in one transaction with the completion of its job: both happen, once, or neither does. */
export type Effect = (tx: Tx) => Promise<void>

export interface JobRun {
  id: string
  /** 1 for the first run. */
  attempt: number
  /** Whether the job is a dead letter if this run fails. */
  isLast: boolean
  /** Aborted when this run no longer counts, because another process has, or will have, the job. */
  signal: AbortSignal
}

/**
 * Does the slow part and returns what to write. A run may be interrupted at any point and started again elsewhere, even
 * while the first still runs; only one of them gets to write.
 */
type Handler<Payload> = (payload: Payload, run: JobRun) => Promise<Effect>

interface HandleOptions {
  /** How many run at a time in this process; 1 by default. */
  concurrency?: number
  /** How many runs a job has before it is a dead letter. */
  maxAttempts?: number
}

interface EnqueueOptions {
  /** While a job of the same kind and key waits, no other is added. A running job does not count: it began too early. */
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

/** A job for people to look at. */
export interface ListedJob {
  id: string
  kind: string
  key: string | null
  payload: unknown
  state: keyof JobCounts
  /** Runs begun. */
  attempts: number
  /** Unix milliseconds: when it is due, or when it failed for good. */
  at: number
  /** Of a dead job. */
  error: string | null
}

interface JobListPage {
  state: keyof JobCounts
  kind: string | null
  /** The last of the page before. */
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
  /** Runs that failed and will be retried. */
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
  /** Enqueues a job once per period, however many processes call this; the first at once. One schedule per kind. */
  every<Kind extends keyof Jobs & string>(seconds: number, kind: Kind, payload: Jobs[Kind]): void
  start(): Promise<void>
  /** Takes no more jobs, waits for running ones up to `graceMs`, and releases the rest. */
  stop(options?: { graceMs?: number }): Promise<void>
  /** Runs due jobs until none is left, also when workers were never started. */
  drain(): Promise<Drained>
  /** The newest first. */
  deadLetters(limit?: number): Promise<DeadLetter[]>
  /** Enqueues it as a new job; false when there is no such dead letter. */
  retryDead(id: string): Promise<boolean>
  /** The same inside a caller's transaction. `id` of the new job: null where one of the same kind and key waits. */
  retryDeadIn(tx: Tx, id: string): Promise<{ id: string | null } | null>
  /** False when there is no such dead letter. */
  deleteDeadIn(tx: Tx, id: string): Promise<boolean>
  /** Jobs in one state: dead ones with the newest first, others with the next due first. */
  list(page: JobListPage): Promise<ListedJob[]>
  find(id: string): Promise<ListedJob | null>
  /** Deletes dead letters that are older than ninety days. */
  forgetDead(): Promise<void>
  /** Counts of every kind that is handled here or has jobs. */
  counts(): Promise<Record<string, JobCounts>>
}

/** Thrown by a handler when a retry would not help. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}
