// Alternative servers on the same machine in the same run. Rounds alternate between all of them.

import { secondsOf } from '../bytes.ts'
import { median, type Row } from '../row.ts'
import { scaled, sizeText } from '../scale.ts'
import type { ServerProcess } from '../server-process.ts'
import { startNginx } from '../servers/nginx.ts'
import { startRclone } from '../servers/rclone.ts'
import { startOurs } from './ours.ts'
import { type Peer, plainPeer } from './peer.ts'
import { startS3rver } from './s3rver.ts'
import { startTus } from './tus.ts'

const ROUNDS = scaled(2, 1)
/** The number of an extra round whose results do not count. */
const WARM_UP = -1
const LARGE = scaled(256, 32) * 1_048_576
const SMALL = 1024
const SMALL_SECONDS = scaled(2, 0.5)
/** Small objects are sent in batches, several concurrently. */
const BATCH = 100
const BATCHES_AT_ONCE = 8
const LARGE_AT_ONCE = 8

interface Measure {
  title: string
  unit: string
  /** Null if the peer cannot do it. */
  measure(peer: Peer, round: number): Promise<number> | null
  rounds: number
  /** The goal relative to the best peer that stores records. */
  goal: Row['goal']
}

/** Measured first, on fresh servers. */
const MEMORY: Measure = {
  title: `memory, ${LARGE_AT_ONCE} × ${sizeText(LARGE)} in, then out, at once`,
  unit: 'MiB',
  measure: (peer) => peer.server.peakMemory(() => moveAtOnce(peer)),
  rounds: 1,
  goal: { atMost: 1 },
}

const SPEEDS: Measure[] = [
  {
    title: `upload of ${sizeText(LARGE)}`,
    unit: 'MiB/s',
    measure: (peer) => speedOf(() => peer.put('large', LARGE)),
    rounds: ROUNDS,
    goal: { atLeast: 1 },
  },
  {
    title: `resumable upload of ${sizeText(LARGE)}`,
    unit: 'MiB/s in parts of 8 MiB',
    measure: ({ putInParts }) => putInParts && speedOf(() => putInParts('in-parts', LARGE)),
    rounds: ROUNDS,
    goal: { atLeast: 1 },
  },
  {
    title: `download of ${sizeText(LARGE)}`,
    unit: 'MiB/s',
    measure: (peer) => speedOf(() => peer.get('large')),
    rounds: ROUNDS,
    goal: { atLeast: 1 },
  },
  {
    title: 'store objects of 1 KiB',
    unit: 'per CPU second',
    measure: (peer, round) => perCpuSecond(peer, (batch) => peer.putMany(namesOf(round, batch), SMALL)),
    rounds: ROUNDS,
    goal: { atLeast: 1 },
  },
  {
    title: 'read objects of 1 KiB',
    unit: 'per CPU second',
    // Each of the workers that stored objects has stored at least one batch.
    measure: (peer, round) =>
      perCpuSecond(peer, async (batch) => {
        for (const name of namesOf(round, batch % BATCHES_AT_ONCE)) await peer.get(name)
      }),
    rounds: ROUNDS,
    goal: { atLeast: 1 },
  },
]

export async function peerRows(): Promise<Row[]> {
  const peers = await startAll()
  const memory = await rowOf(MEMORY, peers)
  for (const { measure } of SPEEDS) for (const peer of peers) await measure(peer, WARM_UP)
  const rows: Row[] = []
  for (const measure of SPEEDS) rows.push(await rowOf(measure, peers))
  for (const { server } of peers) await server.stop()
  return [...rows, memory]
}

/** The first peer is the gateway. */
async function rowOf({ title, unit, measure, rounds, goal }: Measure, peers: readonly Peer[]): Promise<Row> {
  const measured = peers.map((peer) => ({ peer, values: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const { peer, values } of measured) {
      const value = await measure(peer, round)
      if (value !== null) values.push(value)
    }
  }
  const bars = measured.map(({ peer, values }) => ({ ...peer, value: values.length > 0 ? median(values) : null }))
  const [ours, ...others] = bars.flatMap((bar) => (bar.value === null ? [] : { ...bar, value: bar.value }))
  if (!ours) throw new Error(`the gateway cannot do this: ${title}`)
  const best = 'atMost' in goal ? Math.min : Math.max
  return {
    what: `against peers: ${title}`,
    measured: `${ours.value.toFixed(0)} ${unit}`,
    against: others.map(({ name, value }) => `${name}: ${value.toFixed(0)}`).join(', '),
    ratio: ours.value / best(...others.filter(({ keepsRecords }) => keepsRecords).map(({ value }) => value)),
    goal,
    chart: { title, unit, bars: bars.map(({ name, does, value }) => ({ name, does, value })) },
  }
}

async function startAll(): Promise<Peer[]> {
  const does = 'in a plain folder, in the page cache, neither hashed nor flushed'
  const folder = (name: string, server: ServerProcess | null) =>
    server ? [plainPeer({ name, does, keepsRecords: false, server })] : []
  return [
    await startOurs(),
    await startTus(),
    await startS3rver(),
    ...folder('rclone (WebDAV)', await startRclone()),
    ...folder('nginx', await startNginx()),
  ]
}

function namesOf(round: number, batch: number): string[] {
  return Array.from({ length: BATCH }, (_, i) => `small-${round}-${batch}-${i}`)
}

/** Objects per second of the server's processor time. */
async function perCpuSecond({ server }: Peer, batchOf: (batch: number) => Promise<void>): Promise<number> {
  const end = performance.now() + SMALL_SECONDS * 1000
  let batches = 0
  const worker = async () => {
    while (performance.now() < end) await batchOf(batches++)
  }
  const before = await server.cpuSeconds()
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, worker))
  return (batches * BATCH) / ((await server.cpuSeconds()) - before)
}

async function speedOf(work: () => Promise<void>): Promise<number> {
  return LARGE / 1_048_576 / (await secondsOf(work))
}

async function moveAtOnce({ put, get }: Peer): Promise<void> {
  const names = Array.from({ length: LARGE_AT_ONCE }, (_, i) => `moved-${i}`)
  await Promise.all(names.map((name) => put(name, LARGE)))
  await Promise.all(names.map((name) => get(name)))
}
