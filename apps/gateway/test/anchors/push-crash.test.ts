import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { freePort } from '@svc/devnet/free-port'
import type { Variables } from '@svc/http-service/config'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { watchPublications } from '../../src/anchors/watch-publications.ts'
import type { Gateway } from '../../src/gateway.ts'
import { askToAttest, attest } from '../attestations/attest.ts'
import { houseOf, type LockerHouse, type TestLocker } from '../auth/lockers.ts'
import {
  askToPush,
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  push,
} from './anchor-gateways.ts'
import { blindly, type HoldOptions, holdAt } from './node-faults.ts'

const PROGRAM = fileURLToPath(new URL('./programs/gateway-at.ts', import.meta.url))

interface Step {
  /** The call that is under way. */
  at: string
  options?: HoldOptions
  /** Not the first such call, which sees nothing, but the next. */
  isSecond?: boolean
  /** Whether it is on record by then what is sent. */
  isNoted?: boolean
}

/** Everything that happens between asking to publish and the answer, in its order. */
const STEPS: Step[] = [
  { at: 'getLatestBlockhash' },
  { at: 'simulateTransaction' },
  { at: 'simulateTransaction', options: { when: 'after' } },
  { at: 'sendTransaction', isNoted: true },
  { at: 'sendTransaction', options: { when: 'after' }, isNoted: true },
  { at: 'getBlockHeight', isNoted: true },
  { at: 'getSignatureStatuses', isNoted: true },
  { at: 'getSignatureStatuses', isSecond: true, isNoted: true },
  { at: 'getSignatureStatuses', options: { when: 'after' }, isNoted: true },
  { at: 'getTransaction', isNoted: true },
  { at: 'getTransaction', options: { when: 'after' }, isNoted: true },
]

const NOTED = STEPS.filter(({ isNoted }) => isNoted)

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

interface Victim {
  house: LockerHouse
  kill(): Promise<void>
}

async function startVictim(variables: Variables): Promise<Victim> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-victim-'))
  const env = {
    ...harbour.variables,
    ...variables,
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    RUN_JOBS: 'false',
    LOCAL_PROVIDERS: 'gcs',
  }
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, [PROGRAM, String(harbour.clock.now())], { env, stdio: [...stdio] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(async () => {
    await kill()
    await rm(folder, { recursive: true })
  })
  const [url] = await once(createInterface(child.stdout!), 'line')
  return { house: houseOf({ url } as Gateway, harbour.clock), kill }
}

/** Asks for something and sees it come to a step. */
async function cutOffAt({ at, options, isSecond = false }: Step, ask: () => Promise<unknown>): Promise<void> {
  const held = holdAt(at, options)
  let isPassed = !isSecond
  harbour.node.behave((call) => {
    if (isPassed || call.method !== at) return held.behaviour(call)
    isPassed = true
    return blindly(call)
  })
  void ask().catch(() => {})
  await held.reached
  harbour.node.behave(honestly)
}

forEachDatabase('a gateway that is killed while it publishes', (database) => {
  it('T-19 ANCH-11 at any step: what it had begun is found or sent by another, once', async () => {
    const variables = { DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '30' }
    const house = await harbour.open({ ...variables, ATTEST_PUSH: 'false' })
    const { anchors } = house.gateway.rooms
    const attested = async () => {
      const locker = await filledLocker(house)
      await attest(house, locker)
      return locker
    }
    const statesOf = (lockers: TestLocker[]) =>
      Promise.all(lockers.map(async (locker) => (await publicationsOf(house, locker)).map(({ state }) => state)))
    const expectOneEach = async (lockers: TestLocker[]) => {
      for (const locker of lockers) await expectAnchors(house, harbour.chain, locker, [true])
      expect(await statesOf(lockers)).toEqual(lockers.map(() => ['finalized']))
    }
    /** A call that was given up and tried again may be the one that is cut off: then it is enough that this is so far. */
    const untilNoted = (locker: TestLocker) => expect.poll(() => publicationsOf(house, locker)).toHaveLength(1)
    const pushedInTheEnd = (locker: TestLocker) =>
      expect.poll(async () => (await push(house, locker)).attestation_status).toBe('complete')
    const starting = startVictim(variables)
    const asked = await Promise.all(STEPS.map(attested))
    const watched = await Promise.all(NOTED.map(attested))
    const done = await attested()
    const [sent, unsent] = [await filledLocker(house), await filledLocker(house)]
    const before = harbour.chain.timeline.transactionCount()

    const victim = await starting
    await push(victim.house, done)
    for (const [i, step] of STEPS.entries()) {
      await cutOffAt(step, () => askToPush(victim.house, asked[i]!))
      if (step.isNoted) await untilNoted(asked[i]!)
    }
    for (const [i, step] of NOTED.entries()) {
      await cutOffAt(step, () => askToPush(victim.house, watched[i]!))
      await untilNoted(watched[i]!)
    }
    await cutOffAt({ at: 'sendTransaction', options: { when: 'after' } }, () => askToAttest(victim.house, sent))
    await untilNoted(sent)
    await cutOffAt({ at: 'sendTransaction' }, () => askToAttest(victim.house, unsent))
    await untilNoted(unsent)
    await victim.kill()
    const noted = (await statesOf(asked)).map(({ length }) => length)
    expect(noted).toEqual(STEPS.map(({ isNoted }) => (isNoted ? 1 : 0)))

    // Those who attested have a job that came with the statement.
    await Promise.all([anchors.queue.drain(), ...[...asked, done].map(pushedInTheEnd)])
    await expectOneEach([...asked, done, sent, unsent])

    // Where nobody asks, what was noted and never sent is sent in the end, and found the next time.
    harbour.clock.advance(36)
    await watchPublications(anchors)
    await watchPublications(anchors)
    await expectOneEach(watched)
    expect(harbour.chain.timeline.transactionCount() - before).toBe(STEPS.length + NOTED.length + 3)
  })
})
