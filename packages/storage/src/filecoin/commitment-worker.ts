// The program of the thread that `commitment-thread.ts` starts.

import { type MessagePort, parentPort } from 'node:worker_threads'
import { create } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import type { CommitmentMessage } from './commitment-thread.ts'

parentPort!.on('message', (port: MessagePort) => {
  const hasher = create()
  port.on('message', (chunk: CommitmentMessage) => {
    if (chunk) {
      hasher.write(chunk)
      return port.postMessage(null)
    }
    const multihash = new Uint8Array(hasher.multihashByteLength())
    hasher.digestInto(multihash, 0, true)
    port.postMessage(multihash)
  })
  port.on('close', () => hasher.free())
})
