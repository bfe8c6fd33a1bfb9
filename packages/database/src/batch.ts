/** Statements have a limit of parameters, and a batch should not hold up others for long. */
const MAX_ITEMS = 500

/**
 * Gathers what is asked for in one turn of the event loop, and while a batch runs, and does it together: thirty rows in
 * one durable commit cost hardly more than one. Answers come when the batch is done, and fail together.
 */
export function batched<Item, Result>(run: (items: Item[]) => Promise<Result[]>): (item: Item) => Promise<Result> {
  const waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = []
  let isBusy = false

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_ITEMS)
      try {
        const results = await run(batch.map(({ item }) => item))
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isBusy = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isBusy) return
      isBusy = true
      setImmediate(() => void work())
    })
}
