// For tests: a buyer whose every effect on the world is counted, and who is ended before or after one of them.

import type { Journal } from '../src/journal.ts'
import type { Wallet } from '../src/wallets/wallet.ts'

export interface Ending {
  /** By its number, or the first of its name. */
  effect: number | string
  when: 'before' | 'after'
}

export interface World {
  fetch: typeof fetch
  journal: Journal
  wallet: Wallet
}

/** `end` never comes back. */
export function endingWorld(world: World, ending: Ending, end: () => Promise<never>): World & { effects: string[] } {
  const effects: string[] = []
  function watched<Args extends unknown[], Result>(name: string, effect: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      const number = effects.push(name)
      const isLast = number === ending.effect || (name === ending.effect && effects.indexOf(name) === number - 1)
      if (isLast && ending.when === 'before') return end()
      const result = await effect(...args)
      return isLast ? end() : result
    }
  }
  const { journal, wallet } = world
  return {
    effects,
    fetch: watched('fetch', world.fetch),
    journal: { get: (key) => journal.get(key), put: watched('put', journal.put) },
    wallet: {
      ...wallet,
      sign: watched('sign', wallet.sign),
      send: watched('send', wallet.send),
      outcomeOf: watched('outcomeOf', wallet.outcomeOf),
    },
  }
}
