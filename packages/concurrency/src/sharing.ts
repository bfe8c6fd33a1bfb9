// Work that several callers share. `batch` needs Node's `setImmediate`.

export type SingleFlight<Result> = (key: string, work: () => Promise<Result>) => Promise<Result>

/** Callers that ask for a key while its work is running share that run and its outcome. */
export function singleFlight<Result>(): SingleFlight<Result> {
  const flights = new Map<string, Promise<Result>>()
  return (key, work) => {
    const running = flights.get(key)
    if (running !== undefined) return running
    const flight = work().finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
}

/** SQL statements have a limit on parameters, and a batch should not block others for long. */
const MAX_BATCH = 500

/**
 * Collects the items of one turn of the event loop, and those that arrive while a batch runs, and processes them
 * together, at most `maxItems`: thirty rows in one durable commit cost little more than one. A batch succeeds or fails
 * as a whole.
 */
export function batch<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  maxItems = MAX_BATCH,
): (item: Item) => Promise<Result> {
  const waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = []
  let isRunning = false

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const taken = waiting.splice(0, maxItems)
      try {
        const results = await run(taken.map(({ item }) => item))
        for (const [i, { resolve }] of taken.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of taken) reject(error)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isRunning) return
      isRunning = true
      setImmediate(() => void work())
    })
}
