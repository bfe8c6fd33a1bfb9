import { ed25519PublicKey, ed25519Signer, personalSign, recoverPersonalSigner, type SigAlg } from '@svc/protocol/keys'
import { requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { best, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { type BenchLocker, ownerSeed, requestSigner } from './signed-requests.ts'

const ROUNDS = scaled(5, 1)
/** New code is several times slower until it has run often, so the server is warmed up before it is measured. */
const WARM_UPS = scaled(3, 1)
const OWNERS = 200

/** The server of `servers/bare-signed.ts`. */
export const BARE_PROGRAM = 'bare node:http, node:crypto and node:sqlite with the same durable nonce'

/** A signed read of a locker's record: decode, verify, durable nonce, row, answer. */
export async function signedRows(): Promise<Row[]> {
  const bare = await startServer('bare-signed', { LOCKERS: String(OWNERS) }, { onOneCore: true })
  const ed25519 = await compare(
    'ed25519',
    OWNERS,
    () => operationsPerCpuSecond({ verifications: 1, signatures: 0 }),
    bare,
  )
  await bare.stop()
  const evm = await compare('secp256k1', 20, () => perCpuSecond(recovery()))
  const what = 'signed request: decode, verify, durable nonce, row, answer'
  const measured = `${ed25519.rate.toFixed(0)} per CPU second`
  return [
    {
      what,
      measured,
      against: `bare Ed25519 verification: ${ed25519.alone.toFixed(0)}`,
      ratio: ed25519.rate / ed25519.alone,
      goal: { atLeast: 0.55 },
    },
    {
      what,
      measured,
      against: `${BARE_PROGRAM}: ${ed25519.bare.toFixed(0)}`,
      ratio: ed25519.rate / ed25519.bare,
      goal: { atLeast: 0.8 },
    },
    {
      what: 'the same, signed by an EVM owner',
      measured: `${evm.rate.toFixed(0)} per CPU second`,
      against: `bare recovery of the signer: ${evm.alone.toFixed(0)}`,
      ratio: evm.rate / evm.alone,
      goal: { atLeast: 1 },
    },
  ]
}

/** Requests per CPU second to the gateway and a bare program, and bare checks, measured alternately. */
async function compare(sigAlg: SigAlg, owners: number, alone: () => number, bare?: ServerProcess) {
  const server = await startServer(
    'lockers',
    { LOCKERS: String(owners), LOG_LEVEL: 'warn', SIG_ALG: sigAlg },
    { onOneCore: true },
  )
  const measured = [server, ...(bare ? [bare] : [])].map((one) => ({
    server: one,
    route: recordRoute(one, sigAlg),
    rates: [] as number[],
  }))
  for (const { server, route } of measured) for (let i = 0; i < WARM_UPS; i++) await warmUp(server, route)
  const aloneRates: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const { server, route, rates } of measured) {
      aloneRates.push(alone())
      rates.push(await requestsPerCpuSecond(server, route))
    }
  }
  await server.stop()
  const [rate, bareRate = Number.NaN] = measured.map(({ rates }) => best(rates)) as [number, number?]
  return { rate, bare: bareRate, alone: best(aloneRates) }
}

/** Reads the records of all lockers of a server in turn. */
function recordRoute({ facts }: ServerProcess, sigAlg: SigAlg) {
  const calls = (facts as BenchLocker[]).map((locker, i) => {
    const sign = requestSigner(i, locker, sigAlg)
    const path = `/v1/lockers/${locker.locker_id}/record`
    return () => ({ path, headers: sign({ method: 'GET', path, ops: ['locker:read'] }) })
  })
  let turn = 0
  return { path: '/v1/lockers', next: () => (calls[turn++ % calls.length] as (typeof calls)[number])() }
}

const MESSAGE = new Uint8Array(400).fill(1)

export interface Operations {
  verifications: number
  signatures: number
}

/** How often per CPU second these can be done one after another. */
export function operationsPerCpuSecond({ verifications, signatures }: Operations): number {
  const signer = ed25519Signer(ownerSeed(0))
  const key = ed25519PublicKey(signer.publicKey)
  const signature = signer.sign(MESSAGE)
  return perCpuSecond(() => {
    for (let i = 0; i < verifications; i++) {
      if (!key?.verify(MESSAGE, signature)) throw new Error('the signature is invalid')
    }
    for (let i = 0; i < signatures; i++) signer.sign(MESSAGE)
  })
}

function recovery(): () => void {
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
