import { ed25519PublicKey, ed25519Signer, personalSign, recoverPersonalSigner, type SigAlg } from '@svc/protocol/keys'
import { requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { startServer } from './server-process.ts'
import { type BenchLocker, ownerSeed, requestSigner } from './signed-requests.ts'

const ROUNDS = scaled(5, 1)
/** New code is several times slower until it has run often, so the server is warmed up before it is measured. */
const WARM_UPS = scaled(3, 1)
const RECORDS = { path: '/v1/lockers' }

/** A signed read of a locker's record: decode, verify, durable nonce, row, answer. */
export async function signedRows(): Promise<Row[]> {
  const ed25519 = await compare('ed25519', 200, ed25519Check())
  const evm = await compare('secp256k1', 20, recoverySigned())
  return [
    {
      what: 'signed request: decode, verify, durable nonce, row, answer',
      measured: `${ed25519.rate.toFixed(0)} per CPU second`,
      against: `bare Ed25519 verification: ${ed25519.bare.toFixed(0)}`,
      ratio: ed25519.rate / ed25519.bare,
      goal: { atLeast: 0.6 },
    },
    {
      what: 'the same, signed by an EVM owner',
      measured: `${evm.rate.toFixed(0)} per CPU second`,
      against: `bare recovery of the signer: ${evm.bare.toFixed(0)}`,
      ratio: evm.rate / evm.bare,
      goal: { atLeast: 1 },
    },
  ]
}

/** Requests and bare checks per CPU second, measured alternately. */
async function compare(sigAlg: SigAlg, owners: number, check: () => void): Promise<{ rate: number; bare: number }> {
  const server = await startServer('lockers', { LOCKERS: String(owners), LOG_LEVEL: 'warn', SIG_ALG: sigAlg })
  const lockers = server.facts as BenchLocker[]
  const calls = lockers.map((locker, i) => {
    const sign = requestSigner(i, locker, sigAlg)
    const path = `/v1/lockers/${locker.locker_id}/record`
    return () => ({ path, headers: sign({ method: 'GET', path, ops: ['locker:read'] }) })
  })
  let turn = 0
  const route = { ...RECORDS, next: () => (calls[turn++ % owners] as (typeof calls)[number])() }
  for (let i = 0; i < WARM_UPS; i++) await warmUp(server, route)
  const rates: number[] = []
  const bare: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(perCpuSecond(check))
    rates.push(await requestsPerCpuSecond(server, route))
  }
  await server.stop()
  return { rate: median(rates), bare: median(bare) }
}

const MESSAGE = new Uint8Array(400).fill(1)

function ed25519Check(): () => void {
  const signer = ed25519Signer(ownerSeed(0))
  const key = ed25519PublicKey(signer.publicKey)
  const signature = signer.sign(MESSAGE)
  return () => {
    if (!key?.verify(MESSAGE, signature)) throw new Error('the signature is invalid')
  }
}

function recoverySigned(): () => void {
  const signature = personalSign(MESSAGE, ownerSeed(0))
  return () => {
    if (!recoverPersonalSigner(MESSAGE, signature)) throw new Error('the signature is invalid')
  }
}

const CHECK_MICROSECONDS = 500_000

function perCpuSecond(check: () => void): number {
  const start = process.cpuUsage()
  let times = 0
  let used = 0
  while (used < CHECK_MICROSECONDS) {
    for (let i = 0; i < 100; i++) check()
    times += 100
    const { user, system } = process.cpuUsage(start)
    used = user + system
  }
  return times / (used / 1e6)
}
