// For tests: counts the effects of a buyer and interrupts the buyer before or after one of them.

import type { Journal } from '../src/journal.ts'
import type { Wallet } from '../src/wallets/wallet.ts'

export interface Interruption {
  /** The number of the effect, or a name for the first effect of that name. */
  effect: number | string
  when: 'before' | 'after'
}

export interface Environment {
  fetch: typeof fetch
  journal: Journal
  wallet: Wallet
}

/** Calls `end`, which never resolves, at the chosen effect. */
export function interruptible(
  environment: Environment,
  interruption: Interruption,
  end: () => Promise<never>,
): Environment & { effects: string[] } {
  const effects: string[] = []
  function watched<Args extends unknown[], Result>(name: string, effect: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      const number = effects.push(name)
      const isLast =
        number === interruption.effect || (name === interruption.effect && effects.indexOf(name) === number - 1)
      if (isLast && interruption.when === 'before') return end()
      const result = await effect(...args)
      return isLast ? end() : result
    }
  }
  const { journal, wallet } = environment
  return {
    effects,
    fetch: watched('fetch', environment.fetch),
    journal: { get: (key) => journal.get(key), put: watched('put', journal.put) },
    wallet: {
      ...wallet,
      sign: watched('sign', wallet.sign),
      send: watched('send', wallet.send),
      outcomeOf: watched('outcomeOf', wallet.outcomeOf),
    },
  }
}
