// `node bare-verifying.ts <processes>`: verifies Ed25519 signatures in so many processes at once and prints how many they
// verify per second of wall-clock time: what the machine's cores gain where nothing is shared.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { ownerSeed } from '../signed-requests.ts'

const MILLISECONDS = 2000
const [processes] = process.argv.slice(2)

if (processes === undefined) process.send?.(verifiedPerSecond())
else {
  const children = Array.from({ length: Number(processes) }, () => fork(new URL(import.meta.url)))
  const rates = await Promise.all(children.map(async (child) => (await once(child, 'message'))[0] as number))
  console.log(rates.reduce((sum, rate) => sum + rate, 0))
}

function verifiedPerSecond(): number {
  const message = new Uint8Array(400).fill(1)
  const signer = ed25519Signer(ownerSeed(0))
  const key = ed25519PublicKey(signer.publicKey)
  const signature = signer.sign(message)
  const start = performance.now()
  let count = 0
  while (performance.now() - start < MILLISECONDS) {
    if (!key?.verify(message, signature)) throw new Error('the signature is invalid')
    count++
  }
  return count / ((performance.now() - start) / 1000)
}
