// The context that the operations of a client share.

import { sleep } from '@svc/concurrency/retry'
import type { KeyChanges } from '@svc/protocol/follow-keys'
import type { TrustedKey } from '@svc/protocol/keys'
import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import type { ServiceName } from './errors.ts'
import { type Journal, memoryJournal } from './journal.ts'
import type { Signer } from './signers.ts'

export interface ClientOptions {
  /** The address of the service, for example `https://gateway.example`. */
  baseUrl: string
  /** Signs requests, with the key that paid or an operator's. Public reads need none. */
  signer?: Signer
  fetch?: typeof globalThis.fetch
  /** Where purchases and uploads are recorded. The default is in memory: a client that pays needs a durable one. */
  journal?: Journal
  /**
   * Public keys from a source other than the service. Only their signatures are accepted: any signature by a key in 64
   * hex, and by a key with a period and a use only signatures within them.
   */
  pinnedKeys?: readonly (string | TrustedKey)[]
  /** Recovery keys in 64 hex, from the same source as the pinned keys. They can endorse and revoke other keys. */
  recoveryKeys?: readonly string[]
  /** The domain tag of statements, if the deployment has its own. */
  domainTag?: string
  /** Receives warnings for people. The default writes them to the console. */
  onWarning?: (text: string) => void
  /** Called before the wait for each retry. */
  onRetry?: (retry: Retry) => void
  /** How long to retry while the gateway's storage provider is unavailable. The default is `minutes`. */
  retryStorageFor?: 'seconds' | 'minutes' | 'forever'
}

export interface Retry {
  service: ServiceName
  /** How many times it has failed. */
  failures: number
  /** Time until the next attempt. */
  waitMs: number
  /** Why the last attempt failed. */
  error: unknown
}

/** Tests replace these. */
export interface Overrides {
  /** Unix milliseconds. */
  now?: () => number
  /** Resolves after `ms` milliseconds; rejects when the signal aborts. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Keys and changes as the service shows them. Only signatures make them trustworthy. */
export interface ShownKeys {
  keys: TrustedKey[]
  changes: KeyChanges
  recovery: string[]
}

export const NO_KEYS: ShownKeys = { keys: [], changes: { endorsements: [], revocations: [] }, recovery: [] }

/** The differences between the two services. */
export interface Service {
  readonly name: ServiceName
  /** The public keys that the service shows. */
  readKeys(context: Context): Promise<ShownKeys>
  /** Whether a locker belongs to exactly one such service, so that an envelope which names it is valid only there. */
  readonly ownsLockers: boolean
  /** Headers of signed requests besides the signature. */
  signerHeaders(address: string): Record<string, string>
}

export interface Context {
  readonly service: Service
  readonly baseUrl: string
  readonly signer: Signer | null
  readonly fetch: typeof globalThis.fetch
  readonly journal: Journal
  /** Whether the journal is the default one, in memory. */
  readonly hasDefaultJournal: boolean
  readonly pinnedKeys: readonly TrustedKey[]
  readonly recoveryKeys: readonly string[]
  readonly domainTag: string
  readonly warn: (text: string) => void
  readonly onRetry: (retry: Retry) => void
  readonly retryStorageFor: NonNullable<ClientOptions['retryStorageFor']>
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  /** How many milliseconds the service's clock is known to be ahead of ours. */
  clockLead: number
  /** Whether the client has stopped waiting for the storage: later requests fail without waiting again. */
  isStorageAbandoned: boolean
}

export function createContext(
  service: Service,
  options: ClientOptions,
  { now = Date.now, wait = sleep }: Overrides,
): Context {
  return {
    service,
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    signer: options.signer ?? null,
    // Called as a plain function: browsers refuse fetch as a method of another object.
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    journal: options.journal ?? memoryJournal(),
    hasDefaultJournal: options.journal === undefined,
    pinnedKeys: (options.pinnedKeys ?? []).map(trustedKey),
    recoveryKeys: options.recoveryKeys ?? [],
    domainTag: options.domainTag ?? DEFAULT_DOMAIN_TAG,
    warn: options.onWarning ?? console.warn,
    onRetry: options.onRetry ?? (() => {}),
    retryStorageFor: options.retryStorageFor ?? 'minutes',
    now,
    wait,
    clockLead: 0,
    isStorageAbandoned: false,
  }
}

/** A key in hex is trusted at any time and for every use. */
export function trustedKey(key: string | TrustedKey): TrustedKey {
  if (typeof key !== 'string') return key
  return { publicKeyHex: key.toLowerCase(), use: null, validFrom: null, validTo: null }
}

/** Reports a retry and waits for it. */
export async function waitToRetry(
  { service, onRetry, wait }: Context,
  retry: Omit<Retry, 'service'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  onRetry({ service: service.name, ...retry })
  await wait(retry.waitMs, signal)
}

/** Unix milliseconds by the service's clock as far as we know it: envelopes and quotes expire by that clock. */
export function gatewayNow({ now, clockLead }: Context): number {
  return now() + clockLead
}

export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
}
