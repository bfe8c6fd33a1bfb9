// Work that is asked for more often, or by more at once, than it should be done.

/** Whoever asks for a key whose work is under way shares its outcome. */
type SingleFlight<Result> = (key: string, work: () => Promise<Result>) => Promise<Result>

export function singleFlight<Result>(): SingleFlight<Result> {
  const flights = new Map<string, Promise<Result>>()
  return (key, work) => {
    const underway = flights.get(key)
    if (underway !== undefined) return underway
    const flight = work().finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
}

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Does so much at a time; the rest waits, in the order it came. */
export function atMost(limit: number): InTurn {
  const waiting: (() => void)[] = []
  let free = limit

  async function enter(): Promise<void> {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve))
    free--
  }

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
