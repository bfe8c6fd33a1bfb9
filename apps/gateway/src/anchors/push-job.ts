import { PermanentError } from '@svc/queue/queue'
import type { AnchorsContext } from './room.ts'

export const PUSH_ATTEMPTS = 12

/** Retried while the error is retryable. What was sent in between is resolved first, not sent twice. */
export async function runPushJob(context: AnchorsContext, receiptId: string): Promise<void> {
  const { status, error } = await context.push(receiptId)
  if (status !== 'failed') return
  const problem = error?.error ?? 'not published'
  if (error?.retryable) throw new Error(problem)
  throw new PermanentError(problem)
}
