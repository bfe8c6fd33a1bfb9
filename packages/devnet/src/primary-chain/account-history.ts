import type { Address } from '@solana/kit'
import type { Account } from './live-account.ts'

export type AccountHistory = ReturnType<typeof createAccountHistory>

/** What accounts held before each young transaction, so that a read at `confirmed` or `finalized` sees the past it asks for. */
export function createAccountHistory() {
  const changes = new Map<Address, { time: number; before: Account | null }[]>()
  const queue: { time: number; address: Address }[] = []

  return {
    remember(time: number, address: Address, before: Account | null) {
      const list = changes.get(address) ?? []
      list.push({ time, before })
      changes.set(address, list)
      queue.push({ time, address })
    },
    /** The account as it was at `cutoff`; undefined when it has not changed since. */
    at: (address: Address, cutoff: number) => changes.get(address)?.find(({ time }) => time > cutoff)?.before,
    addresses: () => changes.keys(),
    forgetUpTo(cutoff: number) {
      const keep = queue.findIndex(({ time }) => time > cutoff)
      for (const { address } of queue.splice(0, keep === -1 ? queue.length : keep)) {
        const list = changes.get(address)!
        list.shift()
        if (list.length === 0) changes.delete(address)
      }
    },
  }
}
