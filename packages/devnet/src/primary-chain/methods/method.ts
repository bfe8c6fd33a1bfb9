import type { PrimaryChain } from '../chain.ts'
import type { View } from '../commitments.ts'
import type { Params } from '../params.ts'

type Method = (chain: PrimaryChain, params: Params) => unknown
export type Methods = Readonly<Record<string, Method>>

/** An answer that says as of which slot it holds. */
export function inContext<T>(view: View, value: T) {
  return { context: { slot: view.slot, apiVersion: API_VERSION }, value }
}

// No validator's version: a version of its own kind, so that nobody takes this chain for one.
export const API_VERSION = '0.0.0-litesvm.1.4.1'
