// The bytes sent from each locker's files. They are counted in memory and added to the database every few seconds, so
// that a read never causes a write. A killed process loses its last few seconds. The counts of several processes add
// up.

import type { Context } from '../../context.ts'
import { addEgress } from './store.ts'

export interface Egress {
  /** A negative amount corrects bytes that were counted but not sent. */
  count(lockerId: string, bytes: number): void
  /** Writes the counts to the database immediately. */
  save(): Promise<void>
}

const SAVE_AFTER_MS = 10_000
/** Writes early once this many lockers have a count. */
const MAX_LOCKERS = 1000

export function createEgress({ database, log }: Pick<Context, 'database' | 'log'>): Egress {
  let counted = new Map<string, number>()
  let timer: NodeJS.Timeout | null = null
  let saving = Promise.resolve()

  function add(lockerId: string, bytes: number): void {
    counted.set(lockerId, (counted.get(lockerId) ?? 0) + bytes)
    timer ??= setTimeout(() => void save(), SAVE_AFTER_MS).unref()
  }

  /** Calls run one after another. Counts that cannot be written are kept for the next call. */
  function save(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    const batch = counted
    if (batch.size === 0) return saving
    counted = new Map()
    saving = saving.then(async () => {
      try {
        await database.commit((tx) => addEgress(tx, batch))
      } catch (error) {
        log.warn({ err: error }, 'cannot record egress; retrying later')
        for (const [lockerId, bytes] of batch) add(lockerId, bytes)
      }
    })
    return saving
  }

  return {
    count(lockerId, bytes) {
      if (bytes !== 0) add(lockerId, bytes)
      if (counted.size === MAX_LOCKERS) void save()
    },
    save,
  }
}
