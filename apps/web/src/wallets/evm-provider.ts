// A browser wallet of an EVM chain, as EIP-1193 defines it.

import { problemOf, WalletError } from './wallet.ts'

export interface EvmProvider {
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

/** Turns any refusal into a `WalletError`: use it only for requests that send nothing. */
export async function ask(wallet: EvmProvider, method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return await wallet.request({ method, params })
  } catch (error) {
    throw new WalletError(problemOf(error) ?? 'other', error)
  }
}
