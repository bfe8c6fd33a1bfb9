// Verifies Ed25519 signatures that arrive together. Verification is nearly all of the processor time of a signed
// request, so it is shared: this thread verifies one after another, and the thread pool takes some in parallel while
// cores are free. Handing one over costs a tenth of a verification, so a single one stays here.

import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { batch } from '@svc/concurrency/sharing'
import type { Ed25519Verifier } from '@svc/protocol/keys'

interface Signed {
  key: Ed25519Verifier
  message: Uint8Array
  signature: Uint8Array
}

/**
 * All requests of a batch continue together, so that later steps are batched too, such as the commit of their nonces.
 */
const MAX_BATCH = 32

export function createVerify(): (signed: Signed) => Promise<boolean> {
  const lanes = Math.min(availableParallelism() - 1, MAX_LANES)
  const verifyInBatch = batch((all: Signed[]) => verifyAll(all, lanes), MAX_BATCH)
  return async (signed) => verifyInBatch(signed)
}

/** The pool has four threads, and they also read and write files. */
const MAX_LANES = 3

/** Resolves when all are done. A failed verification rejects its own promise only. */
async function verifyAll(all: readonly Signed[], lanes: number): Promise<Promise<boolean>[]> {
  const results: Promise<boolean>[] = new Array(all.length)
  let next = 0
  async function verifyNext(verify: (signed: Signed) => Promise<boolean>): Promise<void> {
    while (next < all.length) {
      const i = next++
      const result = verify(all[i] as Signed)
      results[i] = result
      await result.catch(() => {})
    }
  }
  const inPool = Array.from({ length: Math.min(lanes, all.length - 1) }, () =>
    verifyNext(({ key, message, signature }) => key.verifySoon(message, signature)),
  )
  await verifyNext(async ({ key, message, signature }) => {
    const isValid = key.verify(message, signature)
    // Lets the pool report, and other requests arrive.
    if (next < all.length) await setImmediate()
    return isValid
  })
  await Promise.all(inPool)
  return results
}
