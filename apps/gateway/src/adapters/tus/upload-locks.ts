// One request at a time writes to an upload. A later one asks the earlier to stop: its connection is often dead without
// our knowing, and what it has brought is kept. Across processes the transaction that records bytes decides.

export type LockUpload = <Result>(key: string, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>

interface Turn {
  stop(): void
  /** Never rejects. */
  done: Promise<void>
}

export function createUploadLocks(): LockUpload {
  const turns = new Map<string, Turn>()
  return async (key, work) => {
    for (let before = turns.get(key); before; before = turns.get(key)) {
      before.stop()
      await before.done
    }
    const controller = new AbortController()
    const running = work(controller.signal).finally(() => turns.delete(key))
    const end = () => {}
    turns.set(key, { stop: () => controller.abort(), done: running.then(end, end) })
    return running
  }
}
