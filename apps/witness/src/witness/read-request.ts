// The body of `add-checkpoint` (C2SP tlog-witness).

import { fromUtf8 } from '@svc/protocol/bytes'
import { type Checkpoint, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { readHashes } from '@svc/protocol/transparency/proof'
import type { Hash } from '@svc/protocol/transparency/tree'

export interface AddRequest {
  oldSize: number
  /** The proof from the old size to the size of the checkpoint. */
  proof: Hash[]
  checkpoint: Checkpoint
}

/** The request, or its fault. */
export function readRequest(body: Uint8Array): AddRequest | string {
  const text = fromUtf8(body)
  if (text === null) return 'the request is not UTF-8'
  const gap = text.indexOf('\n\n')
  if (gap < 0) return 'the request has no blank line before its checkpoint'
  const [first = '', ...lines] = text.slice(0, gap).split('\n')
  const oldSize = /^old (0|[1-9]\d{0,15})$/.exec(first)?.[1]
  if (oldSize === undefined || !Number.isSafeInteger(Number(oldSize)))
    return 'the request does not begin with an old size'
  const proof = readHashes(lines)
  if (typeof proof === 'string') return proof
  const checkpoint = readCheckpoint(text.slice(gap + 2))
  return typeof checkpoint === 'string' ? checkpoint : { oldSize: Number(oldSize), proof, checkpoint }
}
