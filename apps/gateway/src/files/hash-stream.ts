// Hashes bytes while they are stored.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { withPrefix } from '@svc/protocol/bytes'
import { freeChunks, type OwnedChunks } from '@svc/service/http/byte-streams'
import type { HashThread, ThreadHash } from './confirm/hash-thread.ts'

interface HashedBytes {
  bytes: OwnedChunks
  /** The hash with its prefix. Call it at the end of the bytes. */
  hash(): Promise<string>
  /** Always call it. */
  close(): void
}

type RunningHash = Pick<ThreadHash, 'write' | 'drained' | 'end' | 'close'>

/** Up to this size, hashing is faster than passing the bytes to a thread. */
const SMALL_BYTES = 512 * 1024

/** `size`: null when unknown. */
export function hashStream(thread: HashThread<null>, source: AsyncIterable<Buffer>, size: number | null): HashedBytes {
  const hash = size === null || size > SMALL_BYTES ? thread.begin(null) : smallHash()
  async function* along(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      hash.write(chunk)
      yield chunk
      await hash.drained()
    }
  }
  return {
    bytes: ownedChunks(along()),
    hash: async () => withPrefix(await hash.end()),
    close: () => hash.close(),
  }
}

/** The reader of the stream is the last user of its chunks. */
export function ownedChunks(source: AsyncIterable<Buffer>): OwnedChunks {
  return Object.assign(Readable.from(source, { objectMode: false }), { free: freeChunks })
}

function smallHash(): RunningHash {
  const sha256 = createHash('sha256')
  return {
    write: (chunk) => void sha256.update(chunk),
    drained: async () => {},
    end: async () => sha256.digest('hex'),
    close: () => {},
  }
}
