// Work for each item of a list or stream.

/**
 * Runs work for each item, up to `atOnce` at a time, and reads the next item only when a run is free. After a failure
 * no more work begins; the first failure is thrown once the running work has ended.
 */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  let index = 0
  for await (const item of items) {
    const task = work(item, index++)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task))
    running.add(task)
    if (running.size >= atOnce) await Promise.race(running)
    if (failures.length > 0) break
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
