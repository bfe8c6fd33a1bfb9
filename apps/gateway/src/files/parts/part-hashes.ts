// The hashes of parts, and of the files that they make. A file's hash is computed as its parts come; what came out of
// order, or to another gateway, or before a restart, is read again at the end.

import { finished, Readable } from 'node:stream'
import { withPrefix } from '@svc/protocol/bytes'
import { createHashThread, type ThreadHash } from '../confirm/hash-thread.ts'
import type { FileOpening } from './file-hash-worker.ts'

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
  /** Call it when the part counts, and wait: the file's hash asked for afterwards includes it. */
  stored(): Promise<void>
  /** Call it always. */
  close(): void
}

/** Two threads, so that a part is answered as soon as its own hash is known. Pieces go through both. */
export function createPartHashes(): PartHashes {
  const partThread = createHashThread<null>(new URL('../confirm/hash-worker.ts', import.meta.url))
  const fileThread = createHashThread<FileOpening>(new URL('./file-hash-worker.ts', import.meta.url))

  const hashes: PartHashes = {
    along(file, index, source, check) {
      const whole = fileThread.begin({ file, index }, { done: (piece) => own.recycle(piece), ended: () => own.close() })
      const own = partThread.begin(null, { done: (piece) => piece && whole.pass(piece), ended: () => {} })
      let sha256 = ''
      const bytes = teeInto(own, source, async () => {
        sha256 = await own.end()
        check(withPrefix(sha256))
      })
      return {
        bytes,
        hash: () => withPrefix(sha256),
        async stored() {
          whole.tell(sha256)
          // Without the thread the file is read again at its end.
          await whole.answer().catch(() => {})
        },
        close() {
          own.close()
          whole.close()
        },
      }
    },
    async ofFile(file, parts, readFrom) {
      const whole = fileThread.begin({ file })
      try {
        const included = (await whole.answer()) as string[] // what the program answers to this opening
        if (included.every((sha256, i) => sha256 === parts[i]?.sha256)) {
          if (included.length < parts.length) await takeAll(whole, await readFrom(included.length))
          return withPrefix(await whole.end())
        }
      } finally {
        whole.close()
      }
      // Parts were replaced, perhaps at another gateway.
      hashes.forget(file)
      return hashes.ofFile(file, parts, readFrom)
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

const HIGH_WATER_MARK = 512 * 1024

/** The bytes of the source, all of which the hash has taken at their end. They wait while the hash is behind. */
function teeInto(hash: ThreadHash, source: Readable, atEnd: () => Promise<void>): Readable {
  const bytes = new Readable({
    highWaterMark: HIGH_WATER_MARK,
    read() {
      resume()
    },
  })
  const fail = (error: unknown) => void bytes.destroy(error as Error)
  function resume(): void {
    hash.drained().then(() => source.resume(), fail)
  }
  // It may fail before anybody listens; a later reader still gets the error.
  bytes.on('error', () => {})
  source.pause()
  source.on('data', (chunk: Buffer) => {
    hash.take(chunk)
    const isWanted = bytes.push(chunk)
    if (isWanted && !hash.isFull()) return
    source.pause()
    if (isWanted) resume()
  })
  finished(source, { writable: false }, (error) => {
    if (error) return fail(error)
    atEnd().then(() => bytes.push(null), fail)
  })
  return bytes
}
