// All that the operations of a client work with.

import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import { type Journal, memoryJournal } from './journal.ts'
import type { Signer } from './signers.ts'

export interface ClientOptions {
  /** Where the gateway is, for example `https://gateway.example`. */
  baseUrl: string
  /** Signs requests: the key that paid, or one of an operator. Reading in public needs none. */
  signer?: Signer
  fetch?: typeof globalThis.fetch
  /** Where purchases and uploads are noted. The default forgets: a client that pays should be given a better one. */
  journal?: Journal
  /** Public keys, 64 hex, that the gateway's receipts and statements must be signed by; from somewhere else than the gateway. */
  pinnedKeys?: readonly string[]
  /** What statements are signed under, where a deployment has chosen its own. */
  domainTag?: string
  /** Told what a person should know; written to the console unless given. */
  onWarning?: (text: string) => void
}

/** What a test holds still. */
export interface Overrides {
  /** Unix milliseconds. */
  now?: () => number
  /** Resolves after so many milliseconds; rejects when the signal aborts. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface Context {
  readonly baseUrl: string
  readonly signer: Signer | null
  readonly fetch: typeof globalThis.fetch
  readonly journal: Journal
  /** Whether nobody gave a journal. */
  readonly forgets: boolean
  readonly pinnedKeys: readonly string[]
  readonly domainTag: string
  readonly warn: (text: string) => void
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Milliseconds that the gateway's clock is ahead of ours, as far as is known. */
  clockLead: number
}

export function createContext(options: ClientOptions, { now = Date.now, wait = waitFor }: Overrides): Context {
  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    signer: options.signer ?? null,
    // Called as a plain function: browsers refuse their own fetch as a method of something else.
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    journal: options.journal ?? memoryJournal(),
    forgets: options.journal === undefined,
    pinnedKeys: (options.pinnedKeys ?? []).map((key) => key.toLowerCase()),
    domainTag: options.domainTag ?? DEFAULT_DOMAIN_TAG,
    warn: options.onWarning ?? console.warn,
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

/** Unix milliseconds, as the gateway counts them as far as we know: envelopes and quotes live by its clock. */
export function gatewayNow({ now, clockLead }: Context): number {
  return now() + clockLead
}

export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
}
