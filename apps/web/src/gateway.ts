// Requests to the gateway that serves these pages. They use no cookies.

import { type Signal, signal } from '@preact/signals'
import type { ErrorBody } from '@svc/api/errors'
import type { Discovery } from '@svc/api/info'
import { urlOf } from './address.ts'

export class RequestFailed extends Error {
  override name = 'RequestFailed'
  /** 0 without an answer. */
  readonly status: number
  readonly hint: string | null
  /** Null without an error of the gateway. */
  readonly code: string | null

  constructor(status: number, message: string, hint: string | null = null, code: string | null = null) {
    super(message)
    this.status = status
    this.hint = hint
    this.code = code
  }
}

export function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return requestJson(path, signal ? { signal } : {})
}

export async function requestJson<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetchAnswer(path, init)
  return (await response.json().catch(() => null)) as T // declared by the endpoint
}

/** Throws the gateway's error for status 400 and above. */
export async function fetchAnswer(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(urlOf(path), { credentials: 'omit', ...init }).catch((error) => {
    init.signal?.throwIfAborted()
    throw new RequestFailed(0, (error as Error).message)
  })
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => null)
  const { message = response.statusText, hint = null, error = null } = (body ?? {}) as Partial<ErrorBody>
  throw new RequestFailed(response.status, message, hint, error)
}

/** A loaded value, or the reason why it is missing. */
type Loaded<T> = { state: 'loading' } | { state: 'ready'; value: T } | { state: 'failed'; error: RequestFailed }

export interface Resource<T> {
  readonly now: Signal<Loaded<T>>
  load(path?: string): Promise<void>
}

/** A value of the gateway that a page shows. A newer load replaces an older one. */
export function resource<T>(path: string): Resource<T> {
  const now = signal<Loaded<T>>({ state: 'loading' })
  let running: AbortController | null = null
  return {
    now,
    async load(from = path) {
      running?.abort()
      const mine = new AbortController()
      running = mine
      if (now.value.state === 'failed') now.value = { state: 'loading' }
      try {
        const value = await getJson<T>(from, mine.signal)
        if (!mine.signal.aborted) now.value = { state: 'ready', value }
      } catch (error) {
        if (mine.signal.aborted) return
        if (!(error instanceof RequestFailed)) throw error
        now.value = { state: 'failed', error }
      }
    },
  }
}

/** The index of this gateway, which the frame of every page shows. */
export const index = resource<Discovery>('/.well-known/svc.json')

/** The public address of this gateway; the origin of this page until the index is loaded. */
export function publicUrl(): string {
  const { value } = index.now
  return value.state === 'ready' ? value.value.base_url : urlOf('/').replace(/\/$/, '')
}
