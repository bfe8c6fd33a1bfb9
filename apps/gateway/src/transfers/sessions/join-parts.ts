import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { StorageProvider } from '@svc/storage/provider'
import type { Part } from './part-store.ts'

/** What is kept of a part is not what came, or not there: it must come again. */
export class LostPart extends Error {
  override name = 'LostPart'
  readonly part: Part

  constructor(part: Part) {
    super(`part ${part.part_index} is not what came`)
    this.part = part
  }
}

/** The parts as one stream, opened one after the other as they are read, each held against its hash. */
export function joinParts(provider: StorageProvider, parts: readonly Part[]): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const part of parts) yield* readPart(provider, part)
  }
  return Readable.from(bytes(), { objectMode: false, highWaterMark: HIGH_WATER_MARK })
}

/** A chunk of what providers give at a time, and the next. */
const HIGH_WATER_MARK = 1_048_576

async function* readPart(provider: StorageProvider, part: Part): AsyncGenerator<Buffer> {
  const stream = await provider.read({ id: part.object_id, ref: part.provider_ref })
  if (!stream) throw new LostPart(part)
  const sha256 = createHash('sha256')
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sha256.update(chunk)
    yield chunk
  }
  if (sha256.digest('hex') !== part.sha256) throw new LostPart(part)
}
