// A gateway with its default number of processes, its dependencies in a separate process, and lockers for the load.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startKillablePostgres } from '@svc/devnet/killable-postgres'
import type { ChainAddresses } from '@svc/devnet/pay-leg'
import type { Engine } from '../faults/testbed.ts'
import { attest } from '../mixed/buyer.ts'
import { type Client, createClient, type Observation } from '../mixed/client.ts'
import { createLedger, type LockerEntry } from '../mixed/ledger.ts'
import { buyLocker, PRIMARY_PAYERS } from '../mixed/purchase.ts'
import { seededRandom } from '../mixed/random.ts'
import { createReplica, type Replica } from '../mixed/replica.ts'
import { createShopper, type Shopper } from '../mixed/shopper.ts'
import { storeFile } from '../mixed/uploads.ts'
import { type ServerProcess, startServer } from '../server-process.ts'

export interface LoadDependencies {
  gateway: Replica
  /** Chains and a store that can be made slow. */
  others: ServerProcess
  /** Sets the observer of all later requests. */
  observeBy(observe: (observation: Observation) => void): void
  client: Client
  shopper(seed: number, client: Client, provider?: string): Shopper
  /** The mixed load does not change the lockers in `untouched`, so that responses about them stay small. */
  lockers: { untouched: LockerEntry[]; gcs: LockerEntry[]; storj: LockerEntry[] }
  stop(): Promise<void>
}

/** A file that every locker has. */
export const FIRST_FILE = 'first.bin'
const FIRST_FILE_BYTES = 20_000
const TIMEOUT_MS = 60_000
const GIVE_UP_MS = 60_000
const SETTINGS = {
  // Production refuses the wallets of the local chains.
  SVC_MODE: 'development',
  BASE_URL: 'http://gateway.example',
  STATEMENT_KEY: '01'.repeat(32),
  SHORT_URL_KEY: '03'.repeat(32),
  LOCAL_PROVIDERS: 'gcs',
  RATE_LIMITS: 'address=0/min,anchors=0/day,anchors=0/hour,statements=0/day,signer=0/min,receipt=0/min',
  MAX_LOCKERS_PER_OWNER: '1000000',
  SPEND_PER_DAY: 'publication=0',
}

export async function startLoadDependencies(engine: Engine, seed: number): Promise<LoadDependencies> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'svc-load-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const postgres = engine === 'postgres' ? await startKillablePostgres() : null
  if (postgres) opened.defer(postgres.stop)
  const others = await startServer('load-dependencies')
  opened.defer(others.stop)
  const { variables, ...chains } = others.facts as ChainAddresses & { variables: Record<string, string> }
  const gateway = await createReplica({
    variables: { ...SETTINGS, ...variables, ...(postgres && { DATABASE_URL: postgres.url }), DATA_DIR: folder },
  })
  opened.defer(gateway.close)
  await gateway.start()
  let observe = (_: Observation) => {}
  const client = createClient({ replica: () => gateway.url, observe: (seen) => observe(seen), timeoutMs: TIMEOUT_MS })
  const ledger = createLedger()
  const shopper: LoadDependencies['shopper'] = (own, client, provider = 'gcs') =>
    createShopper({
      client,
      chains,
      ledger,
      random: seededRandom(own),
      providers: [provider],
      giveUpMs: GIVE_UP_MS,
      replayShare: 0,
    })
  /** Lockers that have a file and a statement. */
  const buy = async (provider: string, count: number) => {
    const lockers: LockerEntry[] = []
    for (let i = 0; i < count; i++) {
      const payer = PRIMARY_PAYERS[i % PRIMARY_PAYERS.length]!
      const buyer = shopper(seed + i, client, provider)
      const locker = await buyLocker(buyer, payer)
      if (!locker) throw new Error('the gateway does not sell')
      await storeFile(buyer, locker, FIRST_FILE, buyer.random.bytes(FIRST_FILE_BYTES))
      await attest(buyer, locker)
      lockers.push(locker)
    }
    return lockers
  }
  const lockers = { untouched: await buy('gcs', 4), gcs: await buy('gcs', 12), storj: await buy('storj', 4) }
  const running = opened.move()
  return {
    gateway,
    others,
    client,
    observeBy(next) {
      observe = next
    },
    shopper,
    lockers,
    stop: () => running.disposeAsync(),
  }
}
