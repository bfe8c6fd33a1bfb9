// Replays traces of the model with real gateways: after each step they have what the model predicts.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOf, kindOf } from '../src/documents.ts'
import { describeTrace } from '../src/explore.ts'
import { SCENARIOS } from '../src/scenarios.ts'
import type { Bounds, State, Step } from '../src/state.ts'
import { type Observed, openRealGateways } from './real-gateways.ts'
import { chooseTraces } from './traces.ts'

const KINDS = ['receipt', 'unclaimed', 'statement', 'publication']
const COMMITS = ['claim', 'addStatement', 'record', 'recordOutcome']

function expectedIn({ db, journals, processes }: State, observed: Observed): Observed {
  const docs = KINDS.flatMap((kind) => kindOf(db.docs, kind)).sort()
  const stops = processes.map(({ operation }) => {
    const at = operation?.at ?? null
    // A replay is a process of its own.
    return at !== null && COMMITS.includes(at) ? 'commit' : at === 'restoreDocument' ? null : at
  })
  // A gateway compares by itself as well; where the model has not yet, either may be first.
  const gates = processes.map(({ gate }, i) => (gate === 'checking' ? observed.gates[i]! : gate))
  // It also writes pending documents to the journal by itself.
  const pending = db.pending.filter((key) => observed.journal.includes(key))
  const journal = [...new Set([...journals[0]!.map(keyOf), ...pending])].filter((key) => !key.startsWith('quote'))
  return { docs, journal: journal.sort(), gates, stops }
}

/** The command restores all documents at once; the model, one by one. */
function isWithinReplay(trace: readonly Step[], i: number): boolean {
  const [before, step, after] = [trace[i - 1], trace[i], trace[i + 1]].map((each) => each?.action)
  return (step === 'restoreDocument' && after === 'replay') || (step === 'replay' && before === 'restoreDocument')
}

async function replayTrace(bounds: Bounds, trace: readonly Step[]): Promise<void> {
  const real = await openRealGateways(bounds)
  try {
    for (const [i, step] of trace.entries()) {
      const text = () => describeTrace(trace.slice(0, i + 1))
      await real.perform(step).catch((cause) => {
        throw new Error(`the last step failed:\n${text()}`, { cause })
      })
      if (isWithinReplay(trace, i)) continue
      const observed = await real.observe()
      expect(observed, text()).toEqual(expectedIn(step.next, observed))
    }
  } finally {
    await real.close()
  }
}

// Gateways write what is pending to the journal every few seconds; in the model that is a step.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setInterval'] }))
afterAll(() => void vi.useRealTimers())

const SEED = Number(process.env.SVC_TEST_SEED ?? 1)
/** Those whose database is restored while its gateways are stopped. */
const REPLAYED = Object.keys(SCENARIOS).filter((name) => SCENARIOS[name]!.machines === 1)

describe.each([
  ['a few traces', { most: 2, sampled: 1 }, []],
  ['all pairs of steps', { most: 1000, sampled: 5 }, ['nightly']],
] as const)('%s', (_name, { most, sampled }, tags) => {
  it.each(REPLAYED)('T-37 gateways do what the model predicts: %s', { tags: [...tags] }, async (scenario) => {
    const bounds = SCENARIOS[scenario]!
    const { traces, missed } = chooseTraces({ bounds, mutant: null }, { seed: SEED, most, sampled })
    for (const trace of traces) await replayTrace(bounds, trace)
    expect(missed.actions).toEqual([])
    if (most > traces.length) expect(missed.pairs).toEqual([])
  })
})
