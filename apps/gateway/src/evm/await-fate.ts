import { setTimeout as pause } from 'node:timers/promises'
import type { EvmAccount, SignedTransaction } from './account.ts'
import { type Fate, fateOf } from './fate.ts'
import { EvmTrouble } from './trouble.ts'

const PAUSE_MS = 250

/** `may_come` also where nobody could be asked: what was sent may be there all the same. */
export async function awaitFate(account: EvmAccount, signed: SignedTransaction, waitMs: number): Promise<Fate> {
  const end = performance.now() + waitMs
  let fate = await look()
  while (fate.is === 'may_come' && performance.now() < end) {
    await pause(PAUSE_MS)
    fate = await look()
  }
  return fate

  async function look(): Promise<Fate> {
    try {
      return await fateOf(account, signed)
    } catch (error) {
      if (error instanceof EvmTrouble) return { is: 'may_come' }
      throw error
    }
  }
}
