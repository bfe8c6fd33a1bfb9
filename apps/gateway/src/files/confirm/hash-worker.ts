// The hashing thread. Each port that it receives carries one hash, piece by piece until null.

import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { OpenedHash } from './hash-thread.ts'

parentPort!.on('message', ({ port }: OpenedHash<null>) => {
  const sha256 = createHash('sha256')
  port.on('message', (piece: Uint8Array<ArrayBuffer> | null) => {
    if (piece === null) return port.postMessage(sha256.digest('hex'))
    sha256.update(piece)
    port.postMessage(piece, [piece.buffer])
  })
})
