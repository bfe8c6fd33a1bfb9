// Hashes files that arrive in parts. A file's hash is computed while its parts arrive, and each byte is hashed once.
// Parts that arrived out of order, at another gateway, or before a restart are read again at the end.

import type { Readable } from 'node:stream'
import { withPrefix } from '@svc/protocol/bytes'
import type { OwnedChunks } from '@svc/service/http/byte-streams'
import { createHashThread, type HashThread, type ThreadHash } from '../confirm/hash-thread.ts'
import { ownedChunks } from '../hash-stream.ts'
import type { FileOpening } from './file-hash-worker.ts'
import { startChecksum } from './part-digest.ts'

export interface PartHashes {
  /**
   * Passes on the bytes of a part and hashes them for the file. The stream fails at its end when `check` throws. With
   * `hasSha256` the part also gets its own SHA-256.
   */
  along(part: FilePart, source: AsyncIterable<Buffer>, check: (digest: string) => void): PassingPart
  /** The hash of the file that consists of parts with these digests. `readFrom` opens its bytes starting at a part. */
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
  /** Call it once the part is recorded: later hashes of the file include it. Waits for the previous part. */
  stored(): Promise<void>
  /** Always call it. */
  close(): void
}

/**
 * `partThread` hashes single parts. It passes their pieces on to the file's thread, so that a part is answered before
 * its file is hashed.
 */
export function createPartHashes(partThread: HashThread<null>): PartHashes {
  const fileThread = createHashThread<FileOpening>(new URL('./file-hash-worker.ts', import.meta.url))
  /** By file: resolves when the file's hash includes the recorded parts. */
  const pending = new Map<string, Promise<unknown>>()

  function include(file: string, fileHash: ThreadHash): Promise<unknown> | undefined {
    const previous = pending.get(file)
    // Without the thread, the file is read again at its end.
    const included = Promise.all([previous, fileHash.answer().catch(() => {})]).finally(() => {
      fileHash.close()
      if (pending.get(file) === included) pending.delete(file)
    })
    pending.set(file, included)
    return previous
  }

  const hashes: PartHashes = {
    along({ file, index, hasSha256 }, source, check) {
      const fileHash = fileThread.begin({ file, index }, hasSha256 ? { done: recycle, ended } : undefined)
      const partHash = hasSha256 ? partThread.begin(null, { done: passOn, ended() {} }) : null
      function recycle(piece: Piece): void {
        partHash?.recycle(piece)
      }
      function ended(): void {
        partHash?.close()
      }
      function passOn(piece: Piece): void {
        if (piece) fileHash.pass(piece)
      }
      const checksum = startChecksum()
      const first = partHash ?? fileHash
      let digest = ''
      let isStored = false
      async function* pass(): AsyncGenerator<Buffer> {
        for await (const chunk of source) {
          if (!partHash) checksum.update(chunk)
          first.write(chunk)
          yield chunk
          await first.drained()
        }
        digest = partHash ? await partHash.end() : checksum.digest()
        check(digest)
      }
      return {
        bytes: ownedChunks(pass()),
        digest: () => digest,
        async stored() {
          isStored = true
          fileHash.sendMessage(digest)
          await include(file, fileHash)
        },
        close() {
          partHash?.close()
          if (!isStored) fileHash.close()
        },
      }
    },
    async ofFile(file, digests, readFrom) {
      await pending.get(file)
      const fileHash = fileThread.begin({ file })
      try {
        const included = (await fileHash.answer()) as string[] // the program's answer to this opening
        if (included.every((digest, i) => digest === digests[i])) {
          if (included.length < digests.length) await takeAll(fileHash, await readFrom(included.length))
          return withPrefix(await fileHash.end())
        }
      } finally {
        fileHash.close()
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
    hash.write(chunk)
    await hash.drained()
  }
}
