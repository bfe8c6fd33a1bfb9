// The hashes of files that come in parts. A file's hash is computed as its parts come, and each byte is hashed once; what
// came out of order, or to another gateway, or before a restart, is read again at the end.

import type { Readable } from 'node:stream'
import { withPrefix } from '@svc/protocol/bytes'
import type { OwnedChunks } from '@svc/service/http/byte-streams'
import { createHashThread, type HashThread, type ThreadHash } from '../confirm/hash-thread.ts'
import { ownedChunks } from '../hash-along.ts'
import type { FileOpening } from './file-hash-worker.ts'
import { startChecksum } from './part-digest.ts'

export interface PartHashes {
  /**
   * Passes on a part of a file, which is hashed meanwhile. The bytes fail at their end when `check` throws. With
   * `hasSha256` the part gets a SHA-256 of its own.
   */
  along(part: FilePart, source: AsyncIterable<Buffer>, check: (digest: string) => void): PassingPart
  /** The hash of the file that parts with these digests make. `readFrom` opens its bytes from one of the parts on. */
  ofFile(file: string, digests: readonly string[], readFrom: ReadFrom): Promise<string>
  /** The file gets no more parts. */
  forget(file: string): void
}

interface FilePart {
  file: string
  index: number
  hasSha256: boolean
}

type Piece = Parameters<ThreadHash['recycle']>[0]
type ReadFrom = (part: number) => Promise<Readable>

interface PassingPart {
  bytes: OwnedChunks
  /** Available at the end of the bytes. */
  digest(): string
  /** Call it when the part counts: the file's hash asked for afterwards includes it. Waits for the part before. */
  stored(): Promise<void>
  /** Call it always. */
  close(): void
}

/** `partThread` hashes parts by themselves. Pieces go on from there, so that a part is answered before its file is hashed. */
export function createPartHashes(partThread: HashThread<null>): PartHashes {
  const fileThread = createHashThread<FileOpening>(new URL('./file-hash-worker.ts', import.meta.url))
  /** By file: until it includes the parts that count. */
  const including = new Map<string, Promise<unknown>>()

  function include(file: string, whole: ThreadHash): Promise<unknown> | undefined {
    const before = including.get(file)
    // Without the thread the file is read again at its end.
    const included = Promise.all([before, whole.answer().catch(() => {})]).finally(() => {
      whole.close()
      if (including.get(file) === included) including.delete(file)
    })
    including.set(file, included)
    return before
  }

  const hashes: PartHashes = {
    along({ file, index, hasSha256 }, source, check) {
      const whole = fileThread.begin({ file, index }, hasSha256 ? { done: recycle, ended } : undefined)
      const own = hasSha256 ? partThread.begin(null, { done: passOn, ended() {} }) : null
      function recycle(piece: Piece): void {
        own?.recycle(piece)
      }
      function ended(): void {
        own?.close()
      }
      function passOn(piece: Piece): void {
        if (piece) whole.pass(piece)
      }
      const checksum = startChecksum()
      const first = own ?? whole
      let digest = ''
      let isStored = false
      async function* pass(): AsyncGenerator<Buffer> {
        for await (const chunk of source) {
          if (!own) checksum.update(chunk)
          first.take(chunk)
          yield chunk
          await first.drained()
        }
        digest = own ? await own.end() : checksum.digest()
        check(digest)
      }
      return {
        bytes: ownedChunks(pass()),
        digest: () => digest,
        async stored() {
          isStored = true
          whole.tell(digest)
          await include(file, whole)
        },
        close() {
          own?.close()
          if (!isStored) whole.close()
        },
      }
    },
    async ofFile(file, digests, readFrom) {
      await including.get(file)
      const whole = fileThread.begin({ file })
      try {
        const included = (await whole.answer()) as string[] // what the program answers to this opening
        if (included.every((digest, i) => digest === digests[i])) {
          if (included.length < digests.length) await takeAll(whole, await readFrom(included.length))
          return withPrefix(await whole.end())
        }
      } finally {
        whole.close()
      }
      // Parts were replaced, perhaps at another gateway.
      hashes.forget(file)
      return hashes.ofFile(file, digests, readFrom)
    },
    forget: (file) => fileThread.begin({ forget: file }).close(),
  }
  return hashes
}

async function takeAll(hash: ThreadHash, bytes: Readable): Promise<void> {
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    hash.take(chunk)
    await hash.drained()
  }
}
