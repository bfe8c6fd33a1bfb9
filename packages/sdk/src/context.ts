// All that the operations of a client work with.

import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import type { ServiceName } from './errors.ts'
import { type Journal, memoryJournal } from './journal.ts'
import type { Signer } from './signers.ts'

export interface ClientOptions {
  /** Where the service is, for example `https://gateway.example`. */
  baseUrl: string
  /** Signs requests: the key that paid, or one of an operator. Reading in public needs none. */
  signer?: Signer
  fetch?: typeof globalThis.fetch
  /** Where purchases and uploads are noted. The default forgets: a client that pays should be given a better one. */
  journal?: Journal
  /** Public keys, 64 hex, that whatever the service signs must be signed by; from somewhere else than the service. */
  pinnedKeys?: readonly string[]
  /** What statements are signed under, where a deployment has chosen its own. */
  domainTag?: string
  /** Told what a person should know; written to the console unless given. */
  onWarning?: (text: string) => void
  /** Told when a request is about to be made again: until then nobody answers the caller. */
  onRetry?: (retry: Retry) => void
}

export interface Retry {
  service: ServiceName
  /** How many times it has failed. */
  failures: number
  /** Until the next attempt. */
  waitMs: number
  /** What became of the last one. */
  error: unknown
}

/** What a test holds still. */
export interface Overrides {
  /** Unix milliseconds. */
  now?: () => number
  /** Resolves after so many milliseconds; rejects when the signal aborts. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** What differs between the services that a client can speak to. */
export interface Service {
  readonly name: ServiceName
  /** The keys that it shows of itself, 64 hex each. */
  readKeys(context: Context): Promise<string[]>
  /** What signed requests show of their signer beside the signature. */
  signerHeaders(address: string): Record<string, string>
}

export interface Context {
  readonly service: Service
  readonly baseUrl: string
  readonly signer: Signer | null
  readonly fetch: typeof globalThis.fetch
  readonly journal: Journal
  /** Whether nobody gave a journal. */
  readonly forgets: boolean
  readonly pinnedKeys: readonly string[]
  readonly domainTag: string
  readonly warn: (text: string) => void
  readonly onRetry: (retry: Retry) => void
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Milliseconds that the gateway's clock is ahead of ours, as far as is known. */
  clockLead: number
}

export function createContext(
  service: Service,
  options: ClientOptions,
  { now = Date.now, wait = waitFor }: Overrides,
): Context {
  return {
    service,
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    signer: options.signer ?? null,
    // Called as a plain function: browsers refuse their own fetch as a method of something else.
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    journal: options.journal ?? memoryJournal(),
    forgets: options.journal === undefined,
    pinnedKeys: (options.pinnedKeys ?? []).map((key) => key.toLowerCase()),
    domainTag: options.domainTag ?? DEFAULT_DOMAIN_TAG,
    warn: options.onWarning ?? console.warn,
    onRetry: options.onRetry ?? (() => {}),
    now,
    wait,
    clockLead: 0,
  }
}

function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Waits before a request is made again, and says so. */
export async function waitToRetry(
  { service, onRetry, wait }: Context,
  retry: Omit<Retry, 'service'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  onRetry({ service: service.name, ...retry })
  await wait(retry.waitMs, signal)
}

/** Unix milliseconds, as the gateway counts them as far as we know: envelopes and quotes live by its clock. */
export function gatewayNow({ now, clockLead }: Context): number {
  return now() + clockLead
}

export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
}
