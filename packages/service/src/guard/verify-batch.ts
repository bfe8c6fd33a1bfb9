// Verifies the signatures of requests that arrive together, which also lets the later steps of those requests be
// batched, such as the commit of their nonces. Verification is half of the processor time of a signed request.

import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { batch } from '@svc/concurrency/sharing'
import { sigAlgOf } from '@svc/protocol/keys'
import { createSignatureCheck, type Signed } from './signature-check.ts'
import { createSignatureThread } from './signature-thread.ts'

const MAX_BATCH = 32
/** This thread verifies so many Ed25519 signatures, a millisecond of them, before others may use it. */
const TURN = 8
/** From so many on, another thread verifies them. Fewer are verified sooner here, where asking costs nothing. */
const CROWD = 8

export type Verify = (signed: Signed) => Promise<boolean>

/** `processes`: how many processes of the service share this machine. */
export function createVerify(processes = 1): Verify {
  const hasSpareCore = availableParallelism() > processes
  const isSigned = createSignatureCheck()
  const askThread = createSignatureThread()
  // OpenSSL cannot check signatures of EVM owners: Node's interface hashes the message itself, and has no Keccak. One
  // takes a millisecond of JavaScript, so those have a thread of their own.
  const askEvmThread = createSignatureThread()
  async function verifyEvm(signed: Signed): Promise<boolean> {
    return (await askEvmThread([signed]))[0] as boolean
  }

  const verifyEd25519 = batch(async (all: Signed[]) => {
    if (hasSpareCore && all.length >= CROWD) return askThread(all)
    const verdicts: boolean[] = []
    for (const signed of all) {
      if (verdicts.length > 0 && verdicts.length % TURN === 0) await setImmediate()
      verdicts.push(isSigned(signed))
    }
    return verdicts
  }, MAX_BATCH)
  return (signed) => (sigAlgOf(signed.identity) === 'secp256k1' ? verifyEvm(signed) : verifyEd25519(signed))
}
