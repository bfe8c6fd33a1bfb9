// What the other rooms see of the queue.

import type { Transaction } from 'kysely'
import type { QueueTables } from './tables.ts'

export type Tx = Transaction<QueueTables>

/** Runs in one transaction with the completion of its job: both happen, once, or neither does. */
export type Effect = (tx: Tx) => Promise<void>

export interface JobRun {
  id: string
  /** 1 for the first. */
  attempt: number
  /** Aborted when this run no longer counts: the job is, or will be, somebody else's. */
  signal: AbortSignal
}

/**
 * Does the slow part, as often as it takes, and answers what is to be written. A run may be cut off at any point and
 * begun again elsewhere, even while the first still goes on; only one of them gets to write.
 */
type Handler<Payload> = (payload: Payload, run: JobRun) => Promise<Effect>

interface HandleOptions {
  /** How many at a time in this process; 1 unless told. */
  concurrency?: number
  /** How often it is begun before it is a dead letter. */
  maxAttempts?: number
}

interface EnqueueOptions {
  /** While one of the same kind and key waits, there is no need for another. One that runs has begun too early. */
  key?: string
  delaySeconds?: number
  /** Instead of what the handler of the kind says. */
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

export interface JobCounts {
  /** Due. */
  waiting: number
  /** Not yet due, or to be tried again later. */
  delayed: number
  running: number
  dead: number
}

export interface Drained {
  done: number
  /** Runs that failed and are tried again later. */
  failed: number
  dead: number
}

/** `Jobs` maps each kind to what its jobs are told, as JSON. */
export interface Queue<Jobs> {
  /**
   * Part of the transaction. Null when one of the same kind and key waits; it then waits for this transaction, too.
   * Call it last: on PostgreSQL a key stays locked until the transaction ends.
   */
  enqueue<Kind extends keyof Jobs & string>(
    tx: Tx,
    kind: Kind,
    payload: Jobs[Kind],
    options?: EnqueueOptions,
  ): Promise<string | null>
  handle<Kind extends keyof Jobs & string>(kind: Kind, options: HandleOptions, handler: Handler<Jobs[Kind]>): void
  /** Once per period, however many processes say so; the first at once. One schedule for each kind. */
  every<Kind extends keyof Jobs & string>(seconds: number, kind: Kind, payload: Jobs[Kind]): void
  start(): Promise<void>
  /** Takes no more jobs, waits a while for those that run, and gives the rest back. */
  stop(options?: { graceMs?: number }): Promise<void>
  /** Runs all that is due until nothing is, also where workers were never started. */
  drain(): Promise<Drained>
  /** The newest first. */
  deadLetters(limit?: number): Promise<DeadLetter[]>
  /** As if it were new; false when there is no such dead letter. */
  retryDead(id: string): Promise<boolean>
  /** Of every kind that is handled here or has jobs. */
  counts(): Promise<Record<string, JobCounts>>
}

/** Thrown by a handler: to try again would not help. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}
