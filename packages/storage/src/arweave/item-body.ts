import type { Readable } from 'node:stream'
import type { Outflow } from '../http/send-body.ts'
import { ProviderError } from '../provider.ts'
import type { SettlingObject } from '../slow-store.ts'
import type { DataItem } from './data-item.ts'

/** A body that holds a file while it is sent. */
export interface ItemBody extends Outflow {
  /** Lets go of it, however much was sent. */
  release(): void
}

/** So many bytes of an item from there on. */
export function itemBody(item: DataItem, object: SettlingObject, start: number, length: number): ItemBody {
  const header = item.header.subarray(start, start + length)
  const rest = length - header.length
  let stream: Readable | null = null
  let isReleased = false

  async function* pieces(): AsyncGenerator<Buffer[]> {
    if (header.length > 0) yield [header]
    if (rest === 0) return
    const first = Math.max(start - item.header.length, 0)
    stream = await object.open({ start: first, end: first + rest - 1 })
    if (isReleased) return void stream.destroy()
    let left = rest
    for await (const chunk of stream) {
      object.signal.throwIfAborted()
      left -= chunk.length
      if (left < 0) break
      yield [chunk]
    }
    if (left === 0) return
    throw new ProviderError('unavailable', new Error(`object ${object.id} is staged with other bytes than before`))
  }

  return {
    length,
    hasBegun: () => stream !== null,
    pieces,
    release() {
      isReleased = true
      stream?.destroy()
    },
  }
}
