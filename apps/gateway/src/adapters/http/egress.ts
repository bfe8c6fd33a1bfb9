// Bytes that were sent of each locker's files. They are counted in memory and added to the database every few seconds:
// never a write for a read. A process that is killed loses its last seconds; several processes add up.

import type { Context } from '../../context.ts'
import { addEgress } from './store.ts'

export interface Egress {
  /** Less than nothing for bytes that were counted and not sent. */
  count(lockerId: string, bytes: number): void
  /** Adds what is counted to the database, now. */
  save(): Promise<void>
}

const SAVE_AFTER_MS = 10_000
/** So many lockers are not kept waiting. */
const MAX_LOCKERS = 1000

export function createEgress({ database, log }: Pick<Context, 'database' | 'log'>): Egress {
  let counted = new Map<string, number>()
  let timer: NodeJS.Timeout | null = null
  let saving = Promise.resolve()

  function add(lockerId: string, bytes: number): void {
    counted.set(lockerId, (counted.get(lockerId) ?? 0) + bytes)
    timer ??= setTimeout(() => void save(), SAVE_AFTER_MS).unref()
  }

  /** One after the other. What cannot be written is kept for the next time. */
  function save(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    const taken = counted
    if (taken.size === 0) return saving
    counted = new Map()
    saving = saving.then(async () => {
      try {
        await database.commit((tx) => addEgress(tx, taken))
      } catch (error) {
        log.warn({ err: error }, 'bytes that were sent could not be counted yet')
        for (const [lockerId, bytes] of taken) add(lockerId, bytes)
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
