// One run: the load, the concurrent faults and the audit.

import { setTimeout } from 'node:timers/promises'
import { shop } from '../mixed/buyer.ts'
import { createClient, type Observation } from '../mixed/client.ts'
import { countLedger, createLedger, type Ledger, type LedgerCounts } from '../mixed/ledger.ts'
import { EVM_PAYERS, type Payer, PRIMARY_PAYERS } from '../mixed/purchase.ts'
import { type Random, seededRandom } from '../mixed/random.ts'
import { createShopper } from '../mixed/shopper.ts'
import { auditAll } from './audit.ts'
import { auditObjects } from './audit-objects.ts'
import type { Check } from './check.ts'
import { FAULTS, type FaultName } from './faults.ts'
import { type Engine, PROVIDERS, startTestbed, type Testbed } from './testbed.ts'

export interface FaultsOptions {
  engine: Engine
  rounds: number
  replicas: number
  buyers: number
  faults: readonly FaultName[]
  seed: number
}

export interface Summary {
  options: FaultsOptions
  seconds: number
  kills: number
  /** How often each fault happened, or why it was impossible. */
  faults: Record<string, number | string>
  acknowledged: LedgerCounts
  givenUp: number
  restores: Ledger['restores']
  /** How requests ended during the faults: `200`, `503 STORAGE_UNAVAILABLE`, `no answer`. */
  answers: Record<string, number>
  checks: Check[]
  isGood: boolean
  logFile: string
}

/** On a busy machine a gateway takes a minute to start. */
const GIVE_UP_MS = 180_000
const TIMEOUT_MS = 40_000
const LONGEST_CALM_MS = 700
/** The most acknowledgements between two kills, so that a slow machine makes progress. */
const MOST_BETWEEN_KILLS = 12
const AT_MOST_MS = 4_000
/** The share of kills of a lone gateway that wait until it is ready. */
const KILLED_READY = 0.8
const REPLAY_SHARE = 0.35

/** Even when `stop` ends the run early, no process, mount or folder is left. */
export async function runFaults(
  options: FaultsOptions,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<Summary> {
  const { engine, replicas } = options
  say(`starting ${replicas} gateway${replicas > 1 ? 's' : ''} on ${engine}…`)
  const testbed = await startTestbed(engine, replicas)
  const stopped = Promise.withResolvers<never>()
  stop.addEventListener('abort', () => stopped.reject(new Error('stopped')))
  if (stop.aborted) stopped.reject(new Error('stopped'))
  try {
    return await Promise.race([runIn(testbed, options, say), stopped.promise])
  } finally {
    await testbed.stop()
  }
}

async function runIn(testbed: Testbed, options: FaultsOptions, say: (line: string) => void): Promise<Summary> {
  const startedAt = performance.now()
  const { rounds, seed } = options
  const random = seededRandom(seed)
  const ledger = createLedger()
  const answers: Record<string, number> = {}
  const client = createClient({
    replica: () => random.pick(testbed.replicas).url,
    observe: (observation) => tally(answers, observation),
    timeoutMs: TIMEOUT_MS,
  })
  const shopperOf = (own: Random, replayShare: number) =>
    createShopper({
      client,
      chains: testbed.chains,
      ledger,
      random: own,
      providers: PROVIDERS,
      giveUpMs: GIVE_UP_MS,
      replayShare,
    })
  const shopping = new AbortController()
  const buyers = payersFor(options.buyers).map((payer, i) =>
    shop(shopperOf(seededRandom(seed + 1 + i), REPLAY_SHARE), payer, { buys: 0.3 }, shopping.signal),
  )
  const failed = Promise.all(buyers).then(() => {})
  const show = (round: number) => say(`${round}/${rounds} kills: ${progress()}`)
  const making = injectFaults(testbed, options, random, { ledger, acknowledgements, show })
  const faults = await Promise.race([making, failed.then(never)])
  say('waiting for the buyers to finish…')
  shopping.abort()
  await failed
  const seen = { ...answers }
  const acknowledged = countLedger(ledger)
  say(`auditing ${JSON.stringify(acknowledged)}`)
  const auditor = shopperOf(random, 0)
  const checks = await auditAll(auditor, testbed.chains.primary.url)
  checks.push(noInternalErrors(seen), await auditObjects(testbed, auditor))
  return {
    options,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    kills: rounds,
    faults,
    acknowledged,
    givenUp: ledger.givenUp,
    restores: ledger.restores,
    answers: seen,
    checks,
    isGood: checks.every(({ broken }) => broken.length === 0),
    logFile: testbed.logFile,
  }

  /** Waits for this many more successful responses, or for a while. */
  async function acknowledgements(count: number): Promise<void> {
    const good = () => (answers['200'] ?? 0) + (answers['402'] ?? 0)
    const enough = good() + count
    const giveUpAt = performance.now() + AT_MOST_MS
    while (good() < enough && performance.now() < giveUpAt) await setTimeout(20)
  }

  function progress(): string {
    const { payments, files, statements, anchors } = countLedger(ledger)
    const lost = ledger.violations.length > 0 ? `, BROKEN ${ledger.violations[0]}` : ''
    return `${payments} payments, ${files} files, ${statements} statements, ${anchors} anchors${lost}`
  }
}

/** Checks that a client gets a retryable response for any failure, and never an internal error. */
function noInternalErrors(answers: Readonly<Record<string, number>>): Check {
  const checked = Object.values(answers).reduce((sum, count) => sum + count, 0)
  const mistakes = Object.entries(answers).filter(([answer]) => answer.startsWith('500'))
  const broken = mistakes.map(([answer, count]) => `${answer} × ${count}`)
  return { promise: 'no answer is a 500', checked, broken }
}

function never(): never {
  throw new Error('the buyers stopped early')
}

/** Most buyers pay on the primary chain, where a payer may send several payments concurrently. */
function payersFor(count: number): Payer[] {
  return Array.from({ length: count }, (_, i) => {
    const evm = i % 3 === 2 ? EVM_PAYERS[Math.floor(i / 3)] : undefined
    return evm ?? (PRIMARY_PAYERS[i % PRIMARY_PAYERS.length] as Payer)
  })
}

interface RunUnderLoad {
  ledger: Ledger
  acknowledgements(count: number): Promise<void>
  show(round: number): void
}

/** Kills gateways one after the other while the other faults begin and end. */
async function injectFaults(
  testbed: Testbed,
  { rounds, faults, seed }: FaultsOptions,
  random: Random,
  { ledger, acknowledgements, show }: RunUnderLoad,
): Promise<Record<string, number | string>> {
  const happened: Record<string, number | string> = {}
  const possible = faults.filter((name) => {
    const obstacle = FAULTS[name].obstacle(testbed)
    happened[name] = obstacle ?? 0
    return obstacle === null
  })
  const isOver = new AbortController()
  const others = failInRounds({ testbed, ledger, random: seededRandom(seed + 1000) }, possible, happened, isOver.signal)
  await Promise.all([others, killInRounds()])
  await Promise.all(testbed.replicas.map((replica) => replica.start()))
  return happened

  async function killInRounds(): Promise<void> {
    const starts = new Map(testbed.replicas.map((replica) => [replica, Promise.resolve()]))
    for (let round = 1; round <= rounds; round++) {
      const replica = random.pick(testbed.replicas)
      // While another gateway is ready, the load continues. A lone gateway is sometimes killed while it starts.
      const ready = [...starts].filter(([other]) => other !== replica).map(([, start]) => start)
      if (ready.length > 0) await Promise.race(ready)
      else if (random.chance(KILLED_READY)) await starts.get(replica)
      await acknowledgements(random.below(MOST_BETWEEN_KILLS))
      await setTimeout(random.below(LONGEST_CALM_MS))
      const start = await testbed.undisturbed(async () => {
        await replica.kill()
        return { ready: replica.start() }
      })
      // The code that awaits `ready` handles the error.
      start.ready.catch(() => {})
      starts.set(replica, start.ready)
      if (round % 10 === 0 || round === rounds) show(round)
    }
    isOver.abort()
    await Promise.all(starts.values())
  }
}

/** Makes each fault at least once, in a random order in every round. */
async function failInRounds(
  { testbed, ledger, random }: { testbed: Testbed; ledger: Ledger; random: Random },
  names: readonly FaultName[],
  happened: Record<string, number | string>,
  stop: AbortSignal,
): Promise<void> {
  if (names.length === 0) return
  do {
    for (const name of random.shuffled(names)) {
      await setTimeout(random.between(200, 2000))
      await FAULTS[name].happen(testbed, random, ledger)
      happened[name] = Number(happened[name]) + 1
    }
  } while (!stop.aborted)
}

function tally(answers: Record<string, number>, { status, code }: Observation): void {
  const key = status === null ? 'no answer' : code === null ? `${status}` : `${status} ${code}`
  answers[key] = (answers[key] ?? 0) + 1
}
