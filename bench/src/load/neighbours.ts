// Measures whether a slow client, storage provider or chain harms requests that do not depend on it.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { PayableLeg } from '@svc/devnet/pay-leg'
import { toBase58 } from '@svc/protocol/bytes'
import type { LockerEntry } from '../mixed/ledger.ts'
import { confirmation } from '../mixed/purchase.ts'
import type { Shopper } from '../mixed/shopper.ts'
import { publicPath } from '../mixed/uploads.ts'
import { createPace, paced } from './pace.ts'
import { FIRST_FILE, type LoadDependencies } from './setup.ts'
import { createRecorder } from './stats.ts'

export interface Neighbour {
  name: string
  /** Milliseconds of requests that do not need the slow part, before and meanwhile. */
  p99Before: number
  p99Meanwhile: number
  errors: number
  isHarmful: boolean
}

const NEVER_SENT = toBase58(new Uint8Array(64).fill(7))
const SECONDS = 10
const READERS = 16
const SLOW_CLIENTS = 200
const WAITING_CALLERS = 24
/** Figures of a few milliseconds differ by chance. */
const TOLERATED_MS = 30

export async function measureNeighbours(
  testbed: LoadDependencies,
  rate: number,
  say: (line: string) => void,
): Promise<Neighbour[]> {
  const [locker] = testbed.lockers.untouched as [LockerEntry]
  const paths = [publicPath(locker, FIRST_FILE), `/v1/storage/verify?receipt_id=${locker.receiptId}`, '/v1/keys']
  const neighbours: Neighbour[] = []
  for (const [name, beSlow] of SLOW) {
    const before = await measureOthers(testbed, rate, paths)
    const end = await beSlow(testbed)
    const meanwhile = await measureOthers(testbed, rate, paths)
    await end()
    const isHarmful = meanwhile.errors > 0 || meanwhile.p99 > 1.5 * before.p99 + TOLERATED_MS
    say(`  ${name}: p99 of the others ${before.p99.toFixed(0)} ms before, ${meanwhile.p99.toFixed(0)} ms meanwhile`)
    neighbours.push({ name, p99Before: before.p99, p99Meanwhile: meanwhile.p99, errors: meanwhile.errors, isHarmful })
  }
  return neighbours
}

async function measureOthers({ client, observeBy }: LoadDependencies, rate: number, paths: readonly string[]) {
  const recorder = createRecorder()
  const own = paced(client, createPace(rate))
  observeBy((seen) => seen.operation === 'other' && recorder.observe(seen))
  const end = performance.now() + SECONDS * 1000
  let next = 0
  async function read(): Promise<void> {
    while (performance.now() < end) {
      await own.read({ operation: 'other', method: 'GET', path: paths[next++ % paths.length] as string })
    }
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return recorder.all()
}

/** Each function makes one part slow and returns a function that ends it. */
const SLOW: [string, (testbed: LoadDependencies) => Promise<() => Promise<void>>][] = [
  ['slow client', slowClients],
  ['slow provider', (testbed) => slowDependency(testbed, 'silent provider', useStore)],
  ['slow chain', (testbed) => slowDependency(testbed, 'slow chain', useChain)],
]

/** Opens uploads that send a byte from time to time, and downloads that are not read. */
async function slowClients({ gateway, lockers }: LoadDependencies): Promise<() => Promise<void>> {
  const { hostname, port } = new URL(gateway.url)
  const [locker] = lockers.untouched as [LockerEntry]
  const path = publicPath(locker, FIRST_FILE)
  const head = `host: ${hostname}\r\ncontent-type: application/json\r\n`
  const sockets: Socket[] = []
  for (let i = 0; i < SLOW_CLIENTS; i++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (i % 2 === 0) {
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
    } else socket.write(`POST /v1/storage/request HTTP/1.1\r\n${head}content-length: 60\r\n\r\n{`)
    sockets.push(socket)
  }
  const timer = setInterval(() => {
    for (const [i, socket] of sockets.entries()) if (i % 2 === 1 && socket.writable) socket.write(' ')
  }, 1_000)
  return async () => {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

/** Runs callers that continually need the slow dependency. */
async function slowDependency(
  { others, shopper, client, lockers }: LoadDependencies,
  order: string,
  use: (shopper: Shopper, lockers: LoadDependencies['lockers'], i: number) => Promise<unknown>,
): Promise<() => Promise<void>> {
  others.tell(order)
  let isOver = false
  const callers = Array.from({ length: WAITING_CALLERS }, async (_, i) => {
    while (!isOver) {
      await use(shopper(i, client), lockers, i)
      await setTimeout(50)
    }
  })
  await setTimeout(1_000)
  return async () => {
    isOver = true
    others.tell('behave')
    await Promise.all(callers)
  }
}

function useStore(shopper: Shopper, { storj }: LoadDependencies['lockers'], i: number): Promise<unknown> {
  const locker = storj[i % storj.length] as LockerEntry
  return shopper.client.read({ operation: 'slow', method: 'GET', path: publicPath(locker, FIRST_FILE) })
}

/** Confirms a payment that was never made, which the gateway searches for on the chain. */
async function useChain({ client }: Shopper): Promise<unknown> {
  const order = { units: 1, pay_network: 'primary-mainnet', pay_asset: 'USDC' }
  const path = '/v1/storage/request'
  const quote = await client.send({ operation: 'slow', method: 'POST', path, body: order })
  const leg = (quote?.body.accepts as PayableLeg[] | undefined)?.[0]
  return leg && client.send({ ...confirmation({ leg, tx: NEVER_SENT }), operation: 'slow' })
}
