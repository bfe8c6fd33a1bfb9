// The hashing thread. Each port it receives is one hash, fed piece by piece until null ends it.

import { createHash } from 'node:crypto'
import { type MessagePort, parentPort } from 'node:worker_threads'

parentPort!.on('message', (port: MessagePort) => {
  const sha256 = createHash('sha256')
  port.on('message', (piece: Uint8Array | null) => {
    if (piece === null) return port.postMessage(sha256.digest('hex'))
    sha256.update(piece)
    port.postMessage('taken')
  })
})
