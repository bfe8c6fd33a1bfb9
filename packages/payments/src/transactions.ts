// How our own transactions are sent and followed, on any chain. Two rules make it safe to be killed at any point:
//
// 1. A transaction is stored durably (its signature, its raw bytes, and its validity) before it is sent.
// 2. A stored transaction is resolved by its signature before another one is signed in its place.

import { poll } from '@svc/concurrency/retry'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'

/** The outcome of a transaction, with the details of its chain. */
export type Outcome<Landed, Failed> =
  | ({ outcome: 'landed' } & Landed)
  | ({ outcome: 'failed' } & Failed)
  | { outcome: 'expired' }
  | { outcome: 'pending' }

interface RecordAndSend<Signed, Sent> {
  /** False when another transaction is already stored: then this one is not sent. */
  record(signed: Signed): Promise<boolean>
  send(signed: Signed): Promise<Sent>
}

/** Rule 1. Null when the transaction was not stored, and so not sent. */
export async function recordAndSend<Signed, Sent>(
  signed: Signed,
  { record, send }: RecordAndSend<Signed, Sent>,
): Promise<{ sent: Sent } | null> {
  return (await record(signed)) ? { sent: await send(signed) } : null
}

interface SendOnce<Signed, Result> extends RecordAndSend<Signed, unknown> {
  /**
   * Determines the outcome of the stored transaction. Null when nothing is stored, or when the stored one can never
   * land; throws while it may still land. In round 0 this run has signed nothing yet.
   */
  resolve(round: number): Promise<Result | null>
  /** Null when nothing needs to be signed any more; the stored records show why. */
  sign(): Promise<Signed | null>
}

/** Both rules: resolve, sign, store and send until the stored transaction has a result. */
export async function sendOnce<Signed, Result>(steps: SendOnce<Signed, Result>): Promise<Result> {
  for (let round = 0; ; round++) {
    const result = await steps.resolve(round)
    if (result !== null) return result
    const signed = await steps.sign()
    if (signed !== null) await recordAndSend(signed, steps)
  }
}

const FIRST_INTERVAL_MS = 50
const MAX_INTERVAL_MS = 1600

interface Watch<Known> {
  ask(): Promise<Known>
  /** Sends the same bytes again: a node that has them does nothing, one that lost them gets them back. */
  resend(): Promise<unknown>
  timeoutMs: number
}

/** Asks until the outcome is known; `pending` when the time is up first. */
export async function watchOutcome<Known extends { outcome: TransactionOutcome }>({
  ask,
  resend,
  timeoutMs,
}: Watch<Known>): Promise<Known | { outcome: 'pending' }> {
  let sentAt = performance.now()

  async function known(): Promise<Known | null> {
    if (performance.now() - sentAt >= MAX_INTERVAL_MS) {
      sentAt = performance.now()
      await resend()
    }
    const found = await ask()
    return found.outcome === 'pending' ? null : found
  }

  const intervals = { intervalMs: FIRST_INTERVAL_MS, maxIntervalMs: MAX_INTERVAL_MS }
  return (await poll(known, { ...intervals, timeoutMs })) ?? { outcome: 'pending' }
}
