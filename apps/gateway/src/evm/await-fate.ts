import { poll } from '@svc/concurrency/retry'
import type { EvmAccount, SignedTransaction } from './account.ts'
import { type Fate, fateOf } from './fate.ts'
import { EvmTrouble } from './trouble.ts'

const PAUSE_MS = 250

/** `may_come` also where nobody could be asked: what was sent may be there all the same. */
export async function awaitFate(account: EvmAccount, signed: SignedTransaction, waitMs: number): Promise<Fate> {
  const known = await poll(
    async () => {
      const fate = await look()
      return fate.is === 'may_come' ? null : fate
    },
    { intervalMs: PAUSE_MS, timeoutMs: waitMs },
  )
  return known ?? { is: 'may_come' }

  async function look(): Promise<Fate> {
    try {
      return await fateOf(account, signed)
    } catch (error) {
      if (error instanceof EvmTrouble) return { is: 'may_come' }
      throw error
    }
  }
}
