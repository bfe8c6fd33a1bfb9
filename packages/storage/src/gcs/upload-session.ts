// A large object, chunk by chunk. The store keeps the chunks apart until the last has come: before that there is no
// object, and none when the session is cancelled.

import { wholeNumber } from '../http/answer.ts'
import { ProviderError } from '../provider.ts'
import type { Blocks, Chunk } from './blocks.ts'
import { idIsTaken, metadataOf, type OwnWrite, takeBack } from './own-write.ts'
import { PassingTrouble, retrying } from './patience.ts'
import { type Answer, type GcsStore, parseAnswer } from './bucket.ts'
import { lengthOf } from './transport.ts'

/** A chunk and the place it has in the object. */
interface Stretch extends Chunk {
  start: number
  end: number
}

/** Says how many bytes it were. */
export async function uploadInSession(store: GcsStore, write: OwnWrite, first: Chunk, rest: Blocks): Promise<number> {
  const session = await begin(store, write)
  try {
    let size = 0
    for (let chunk = first; ; chunk = await rest.take(1)) {
      const stretch = { ...chunk, start: size, end: size + lengthOf(chunk.blocks) }
      await sendStretch(store, session, stretch, rest.failure)
      size = stretch.end
      if (chunk.isLast) return size
    }
  } catch (error) {
    await cancel(store, session)
    await takeBack(store, write, error)
    throw error
  }
}

/** Not given up when the source fails: a session that nobody knows of could not be cancelled. */
async function begin(store: GcsStore, write: OwnWrite): Promise<string> {
  const url = store.url('upload/storage', null, { uploadType: 'resumable', name: write.name, ifGenerationMatch: '0' })
  const headers = { 'content-type': 'application/json; charset=UTF-8', 'x-upload-content-type': write.contentType }
  const answer = await store.ask({ method: 'POST', url, headers, body: [Buffer.from(metadataOf(write))] }, [412])
  if (answer.status === 412) throw idIsTaken()
  const session = URL.parse(answer.headers.location ?? '', url)
  // Its bytes travel as safely as what was asked before.
  if (answer.headers.location && session?.protocol === new URL(url).protocol) return session.href
  throw new ProviderError('unavailable', new Error('the store began no session'))
}

/** Until the store has all of it. After trouble it is asked how far it got, and sent the rest. */
async function sendStretch(store: GcsStore, session: string, stretch: Stretch, signal: AbortSignal): Promise<void> {
  let known: number | null = stretch.start
  await retrying(
    store.patience,
    async () => {
      let kept = known
      known = null
      for (;;) {
        const now = await sendRest(store, session, stretch, kept, signal)
        if (now === 'done') return
        if (now === kept) throw new PassingTrouble(new Error('the store keeps nothing of what it is sent'))
        kept = now
      }
    },
    signal,
  )
}

/** One request; tells how much the store has then. Without knowing how much it has, it is asked for that alone. */
async function sendRest(
  store: GcsStore,
  session: string,
  { blocks, start, end, isLast }: Stretch,
  kept: number | null,
  signal: AbortSignal,
): Promise<number | 'done'> {
  const total = isLast ? `${end}` : '*'
  const isQuestion = kept === null || kept === end
  const headers = { 'content-range': isQuestion ? `bytes */${total}` : `bytes ${kept}-${end - 1}/${total}` }
  const body = isQuestion ? [] : after(kept - start, blocks)
  // The address of a session is itself the permission to use it.
  const answer = await store.attempt({ method: 'PUT', url: session, headers, body, signal }, [308, 412])
  if (answer.status === 412) throw idIsTaken()
  const isWhole = answer.status !== 308
  const now = isWhole ? parseAnswer(answer, ({ size }: { size: string }) => wholeNumber(size)) : keptBytes(answer)
  const isPossible = isWhole ? isLast && now === end : now >= start && now <= end
  if (!isPossible)
    throw new ProviderError('unavailable', new Error(`the store lost count: ${now}, not ${start}-${end}`))
  return isWhole || (now === end && !isLast) ? 'done' : now
}

function keptBytes({ headers }: Answer): number {
  const last = /^bytes=0-(\d+)$/.exec(headers.range ?? '')?.[1]
  return last === undefined ? 0 : Number(last) + 1
}

function after(count: number, blocks: readonly Buffer[]): Buffer[] {
  let left = count
  return blocks.flatMap((block) => {
    const skipped = Math.min(left, block.length)
    left -= skipped
    return skipped < block.length ? [block.subarray(skipped)] : []
  })
}

/** It answers 499. A session that nobody cancels ends by itself after a week. */
async function cancel(store: GcsStore, session: string): Promise<void> {
  const gone = [404, 410, 499]
  await retrying(store.patience, () => store.attempt({ method: 'DELETE', url: session, body: [] }, gone)).catch(
    () => {},
  )
}
