// The span of the running code. It follows promises and callbacks, so that a chain call deep inside an operation finds
// the request that caused it. Without a tracer there is no span, and nothing is done.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Span, SpanOptions } from './span.ts'
import { formatTraceparent } from './traceparent.ts'

const active = new AsyncLocalStorage<Span>()

export function runInSpan<T>(span: Span, work: () => T): T {
  return active.run(span, work)
}

/** Does the work as part of the active span, if there is one. */
export async function withSpan<T>(options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const parent = active.getStore()
  if (!parent) return work()
  const span = parent.child(options)
  try {
    const result = await active.run(span, work)
    span.end()
    return result
  } catch (error) {
    span.end({ 'error.type': errorType(error) }, { isFailed: true })
    throw error
  }
}

/** The active span, for another process to continue; null when nothing is traced. */
export function activeTraceparent(): string | null {
  const span = active.getStore()
  return span ? formatTraceparent(span) : null
}

/** Wraps a function so that later calls belong to the span that is active now. */
export function inActiveSpan<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  const run = AsyncLocalStorage.snapshot()
  return (...args) => run(work, ...args)
}

/** The error's class, because its text may quote anything. */
export function errorType(error: unknown): string {
  return error instanceof Error ? error.constructor.name : 'unknown'
}
