// Restores the database from a backup under load. Gateways are read-only until all their journals are replayed.

import { setTimeout } from 'node:timers/promises'
import { type Ledger, lockersOf } from '../mixed/ledger.ts'
import type { Random } from '../mixed/random.ts'
import type { Testbed } from './testbed.ts'

const ASK_EVERY_MS = 200
const CURRENT_WITHIN_MS = 120_000
const LONGEST_REPLAY_MS = 4000

/** How long a gateway refuses envelopes after its start, because they may have been used before. */
const REFUSED_MS = 32_000

type Possible = Set<string | null>

export async function restoreDatabase(testbed: Testbed, random: Random, ledger: Ledger): Promise<void> {
  const { backups, replicas } = testbed
  const since = performance.now()
  const before = filesOf(ledger)
  await testbed.undisturbed(() => backups.take())
  const after = filesOf(ledger)
  await setTimeout(random.between(1000, 12_000))
  await testbed.undisturbed(async () => {
    do {
      await Promise.all(replicas.map((replica) => replica.kill()))
      await backups.restore()
      ledger.losses.push({ since, until: performance.now() })
      allowOldFiles(ledger, [before, after])
      await Promise.all(replicas.map((replica) => replica.start()))
      await Promise.all(replicas.map(({ url }) => expectReadOnly(url, ledger)))
      for (let pass = 0; pass < replicas.length; pass++) await replayAll(testbed, random, ledger)
      await untilCurrent(testbed, ledger)
    } while (random.chance(0.5))
    // A gateway that is killed meanwhile would refuse them for the same time again.
    await setTimeout(REFUSED_MS)
  })
}

function filesOf(ledger: Ledger): Map<string, Possible> {
  const files = lockersOf(ledger).flatMap((locker) => [...locker.files])
  return new Map(files.map(([name, { possible }]) => [name, new Set(possible)]))
}

/** Files are not in the journal: each has its bytes from the time of the backup, unless it is stored again. */
function allowOldFiles(ledger: Ledger, backups: readonly Map<string, Possible>[]): void {
  for (const { files } of lockersOf(ledger))
    for (const [name, { possible }] of files)
      for (const backup of backups) for (const hash of backup.get(name) ?? [null]) possible.add(hash)
}

/** Expects that nothing is sold while the database lacks rows, so that no number is used twice. */
async function expectReadOnly(url: string, ledger: Ledger): Promise<void> {
  const state = await pollState(url, (known) => known !== 'checking')
  if (state !== 'behind') return
  const body = JSON.stringify({ units: 1 })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/storage/request`, { method: 'POST', headers, body })
  ledger.restores.refused++
  const { error } = (await answer.json()) as { error?: string }
  if (error !== 'database_behind') ledger.violations.push(`a gateway that is behind answered ${answer.status} ${error}`)
}

/** Replays the journals of all replicas, some of them repeatedly, concurrently or in sequence. */
async function replayAll(testbed: Testbed, random: Random, ledger: Ledger): Promise<void> {
  const work = testbed.replicas.map((_, i) => async () => {
    for (; random.chance(0.5); ledger.restores.killedReplays++) {
      const killed = testbed.replay(i)
      await setTimeout(random.below(LONGEST_REPLAY_MS))
      await killed.kill()
    }
    const { stdout, stderr } = await testbed.replay(i).ended
    ledger.restores.replays++
    ledger.restores.last = stdout + stderr
  })
  if (random.chance(0.5)) await Promise.all(work.map((replay) => replay()))
  else for (const replay of work) await replay()
}

async function untilCurrent({ replicas }: Testbed, ledger: Ledger): Promise<void> {
  for (const { url } of replicas)
    if ((await pollState(url, (state) => state === 'current')) !== 'current') {
      const health = await fetch(`${url}/health`, { headers: { connection: 'close' } })
      const problem = `a gateway is not current although its journal was replayed: ${await health.text()}`
      ledger.violations.push(problem)
      throw new Error(`${problem}\n${ledger.restores.last}`)
    }
}

async function pollState(url: string, isWanted: (state: string) => boolean): Promise<string | null> {
  const giveUpAt = performance.now() + CURRENT_WITHIN_MS
  let state: string | null = null
  while (performance.now() < giveUpAt) {
    const answer = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => null)
    const health = (await answer?.json().catch(() => null)) as { continuity?: { state: string } } | null | undefined
    state = health?.continuity?.state ?? state
    if (state !== null && isWanted(state)) return state
    await setTimeout(ASK_EVERY_MS)
  }
  return state
}
