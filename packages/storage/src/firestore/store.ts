// What is kept where: `<collection>/<id>` is there from when an object is whole, and says how large it is and by which
// write it came; its bytes are in `<collection>/<id>/chunks/<write>-<number>`. A chunk bears the name of its write, so
// that one write never touches what another has written.

import { setTimeout as pause } from 'node:timers/promises'
import { isHex } from '@svc/protocol/bytes'
import type { CallLimits, Calls, StoredDocument, Write } from './calls.ts'
import type { Patience } from './patience.ts'
import { isPassing, troubleOf } from './errors.ts'

/** Each step is tried again when it fails: it must come to the same when it is done twice. */
export interface Store {
  objectName(id: string): string
  commit(writes: readonly Write[]): Promise<void>
  fetch(names: readonly string[], mask: readonly string[] | null, signal?: AbortSignal): Promise<StoredDocument[]>
  /** The first chunks there are, of whatever writes. */
  listChunks(id: string, limit: number): Promise<string[]>
}

const CHUNKS = 'chunks'

export function createStore(calls: Calls, patience: Patience): Store {
  function objectName(id: string): string {
    // An id becomes part of a path: whatever else a caller might pass must not.
    if (!isHex(id, 16)) throw new RangeError('an object id is 32 lowercase hex characters')
    return `${calls.root}/${id}`
  }

  return {
    objectName,
    commit: (writes) => ask(patience, (limits) => calls.commit(writes, limits)),
    fetch: (names, mask, signal) => ask(patience, (limits) => calls.fetch(names, mask, limits), signal),
    listChunks: (id, limit) => ask(patience, (limits) => calls.list(objectName(id), CHUNKS, limit, limits)),
  }
}

async function ask<T>(patience: Patience, step: (limits: CallLimits) => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step({ deadline: new Date(Date.now() + patience.answerMs), signal })
    } catch (error) {
      const trouble = troubleOf(error)
      if (tries >= patience.attempts || signal?.aborted || !isPassing(trouble)) throw trouble
    }
    await pause(patience.backoffMs * 4 ** (tries - 1))
  }
}

export function chunkName(objectName: string, write: string, n: number): string {
  return `${objectName}/${CHUNKS}/${write}-${String(n).padStart(6, '0')}`
}
