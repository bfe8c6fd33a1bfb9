// Only one request writes to an upload. A later request stops the earlier one, whose connection is often dead without
// our knowledge; the bytes that it sent stay. Across processes, the transaction that records bytes decides.

export type LockUpload = <Result>(key: string, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>

interface Holder {
  stop(): void
  /** Never rejects. */
  done: Promise<void>
}

export function createUploadLocks(): LockUpload {
  const holders = new Map<string, Holder>()
  return async (key, work) => {
    for (let holder = holders.get(key); holder; holder = holders.get(key)) {
      holder.stop()
      await holder.done
    }
    const controller = new AbortController()
    const running = work(controller.signal).finally(() => holders.delete(key))
    const end = () => {}
    holders.set(key, { stop: () => controller.abort(), done: running.then(end, end) })
    return running
  }
}
