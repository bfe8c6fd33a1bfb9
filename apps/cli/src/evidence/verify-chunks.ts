// Evidence in any of its formats: a bundle is streamed, and a DSSE envelope or Sigstore bundle is small and opened
// first.

import { concat } from '@svc/protocol/bytes'
import { type DsseFacts, MAX_DSSE_BYTES, openDsse } from '@svc/verifier/dsse'
import type { Chunks } from '@svc/verifier/read-bundle'
import { type Given, type Verification, verifyBundle } from '@svc/verifier/verify-bundle'

export interface Verified {
  verification: Verification
  /** Null for an evidence bundle. */
  dsse: DsseFacts | null
}

export async function verifyChunks(chunks: Chunks, given: Given): Promise<Verified> {
  const { beginning, rest } = await readBeginning(chunks)
  const opened = rest ? null : openDsse(beginning)
  if (!opened) return { verification: await verifyBundle(joined(beginning, rest), given), dsse: null }
  if ('refused' in opened) return { verification: opened, dsse: null }
  const verification = await verifyBundle([opened.bundle], given)
  return { verification, dsse: verification.refused ? null : opened.facts(verification.followed) }
}

/** `rest` is null if the beginning is complete. */
async function readBeginning(
  chunks: Chunks,
): Promise<{ beginning: Uint8Array; rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | null }> {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  const read: Uint8Array[] = []
  for (let length = 0; length <= MAX_DSSE_BYTES; ) {
    const next = await iterator.next()
    if (next.done) return { beginning: concat(...read), rest: null }
    read.push(next.value)
    length += next.value.length
  }
  return { beginning: concat(...read), rest: iterator }
}

async function* joined(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  yield beginning
  if (!rest) return
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
