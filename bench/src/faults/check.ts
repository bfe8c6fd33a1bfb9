import type { PinnedKey } from '@svc/verifier/pinned-keys'
import type { Answer, Client } from '../mixed/client.ts'
import type { Ledger } from '../mixed/ledger.ts'
import type { Shopper } from '../mixed/shopper.ts'

/** One promise, how often it was checked, and where it is broken. */
export interface Check {
  promise: string
  checked: number
  broken: string[]
}

export interface Audit {
  shopper: Shopper
  ledger: Ledger
  client: Client
  keys: readonly PinnedKey[]
  /** Repeats a read until the gateway answers. */
  ask(path: string): Promise<Answer>
  /** Runs `check` for each item, several concurrently. */
  each<T>(items: readonly T[], check: (item: T) => Promise<void>): Promise<void>
  check(promise: string): Check
}
