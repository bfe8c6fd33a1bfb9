import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { requestsPerCpuSecond, warmUp } from './load.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { startServer } from './server-process.ts'
import { type BenchLocker, ownerSeed, requestSigner } from './signed-requests.ts'

const LOCKERS = 200
const ROUNDS = scaled(5, 1)
const RECORDS = { path: '/v1/lockers' }

/** A signed read of a locker's record: decode, verify, durable nonce, row, answer. */
export async function signedRows(): Promise<Row[]> {
  const server = await startServer('lockers', { LOCKERS: String(LOCKERS), LOG_LEVEL: 'warn' })
  const lockers = server.facts as BenchLocker[]
  const calls = lockers.map((locker, i) => {
    const sign = requestSigner(i, locker)
    const path = `/v1/lockers/${locker.locker_id}/record`
    return () => ({ path, headers: sign({ method: 'GET', path, ops: ['locker:read'] }) })
  })
  let turn = 0
  const route = { ...RECORDS, next: () => (calls[turn++ % LOCKERS] as (typeof calls)[number])() }
  await warmUp(server, route)
  const rates: number[] = []
  const verifies: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    verifies.push(verifiesPerCpuSecond())
    rates.push(await requestsPerCpuSecond(server, route))
  }
  await server.stop()
  const [rate, verify] = [median(rates), median(verifies)]
  return [
    {
      what: 'signed request: decode, verify, durable nonce, row, answer',
      measured: `${rate.toFixed(0)} per CPU second`,
      against: `bare Ed25519 verification: ${verify.toFixed(0)}`,
      ratio: rate / verify,
      goal: { atLeast: 0.5 },
    },
  ]
}

function verifiesPerCpuSecond(): number {
  const signer = ed25519Signer(ownerSeed(0))
  const key = ed25519PublicKey(signer.publicKey)
  const message = new Uint8Array(400).fill(1)
  const signature = signer.sign(message)
  const start = process.cpuUsage()
  const times = 3000
  for (let i = 0; i < times; i++) if (!key?.verify(message, signature)) throw new Error('does not verify')
  const { user, system } = process.cpuUsage(start)
  return times / ((user + system) / 1e6)
}
