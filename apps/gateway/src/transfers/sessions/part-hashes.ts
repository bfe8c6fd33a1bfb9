// The hashes of parts, and of the files that they make. A file's hash is computed as its parts come; what came out of
// order, or to another gateway, or before a restart, is read again at the end.

import { Readable } from 'node:stream'
import { withPrefix } from '@svc/protocol/bytes'
import { createHashThread } from '../../files/confirm/hash-thread.ts'
import type { PartOpening } from './part-hash-worker.ts'

export interface PartHashes {
  /** Hashes a part of a file while it is read. The bytes fail at their end when `check` throws. */
  along(file: string, index: number, source: Readable, check: (hash: string) => void): HashedPart
  /** The hash of the file that these parts make. `readFrom` opens its bytes from one of the parts on. */
  ofFile(file: string, parts: readonly { sha256: string }[], readFrom: ReadFrom): Promise<string>
  /** The file gets no more parts. */
  forget(file: string): void
}

type ReadFrom = (part: number) => Promise<Readable>

interface HashedPart {
  bytes: Readable
  /** With its prefix. Available at the end of the bytes. */
  hash(): string
  /** Call it when the part counts. */
  stored(): void
  /** Call it always. */
  close(): void
}

const HIGH_WATER_MARK = 512 * 1024

export function createPartHashes(): PartHashes {
  const thread = createHashThread<PartOpening>(new URL('./part-hash-worker.ts', import.meta.url))

  const hashes: PartHashes = {
    along(file, index, source, check) {
      const own = thread.begin({ file, index })
      let hash = ''
      async function* bytes(): AsyncGenerator<Buffer> {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          await own.take(chunk)
          yield chunk
        }
        hash = withPrefix(await own.end())
        check(hash)
      }
      return {
        bytes: Readable.from(bytes(), { objectMode: false, highWaterMark: HIGH_WATER_MARK }),
        hash: () => hash,
        stored: () => own.tell('stored'),
        close: () => own.close(),
      }
    },
    async ofFile(file, parts, readFrom) {
      const whole = thread.begin({ file })
      try {
        const included = (await whole.answer()) as string[] // what the program answers to this opening
        if (included.every((sha256, i) => sha256 === parts[i]?.sha256)) {
          if (included.length < parts.length) {
            for await (const piece of await readFrom(included.length)) await whole.take(piece)
          }
          return withPrefix(await whole.end())
        }
      } finally {
        whole.close()
      }
      // Parts were replaced, perhaps at another gateway.
      hashes.forget(file)
      return hashes.ofFile(file, parts, readFrom)
    },
    forget: (file) => thread.begin({ forget: file }).close(),
  }
  return hashes
}
