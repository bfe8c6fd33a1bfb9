// Chooses traces among random walks through the model: few that have many pairs of adjacent kinds of actions, and a
// sample.

import { stepsFrom } from '../src/explore.ts'
import { initialState, type Model, type Step } from '../src/state.ts'

/** A repeatable sequence of numbers from 0 to 1. */
function randomness(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const MAX_STEPS = 60
const WALKS = 400

function walk(model: Model, random: () => number): Step[] {
  const trace: Step[] = []
  for (let state = initialState(model); trace.length < MAX_STEPS; ) {
    const all = stepsFrom(state, model)
    // A gateway that starts compares at once.
    const first = all.filter((each) => each.action === 'compare' && state.processes[each.actor!]!.gate === 'checking')
    const steps = first.length > 0 ? first : all
    if (steps.length === 0) break
    const kinds = [...new Set(steps.map(({ action }) => action))]
    const kind = kinds[Math.floor(random() * kinds.length)]
    const alike = steps.filter(({ action }) => action === kind)
    let step = alike[Math.floor(random() * alike.length)]!
    trace.push(step)
    // The command restores all that it can.
    while (step.action === 'restoreDocument') {
      const { actor, next } = step
      const [again] = stepsFrom(next, model).filter((each) => each.action === 'replay' && each.actor === actor)
      const [end] = again ? stepsFrom(again.next, model).filter((each) => isEndOf(again, each)) : []
      if (!again || !end) break
      trace.push(again, end)
      step = end
    }
    state = step.next
  }
  return trace
}

function isEndOf(replay: Step, { action, actor }: Step): boolean {
  return action === 'restoreDocument' && actor === replay.actor
}

function pairsOf(trace: readonly Step[]): string[] {
  return trace.map(({ action }, i) => `${trace[i - 1]?.action ?? 'start'} → ${action}`)
}

export interface Chosen {
  traces: Step[][]
  /** What the walks found and these traces do not have. */
  missed: { pairs: string[]; actions: string[] }
}

/** Each trace adds the most pairs that none before has, until there are `most`; then come random ones. */
export function chooseTraces(model: Model, options: { seed: number; most: number; sampled: number }): Chosen {
  const { seed, most, sampled } = options
  const random = randomness(seed)
  const walks = Array.from({ length: WALKS }, () => walk(model, random))
  const missing = new Set(walks.flatMap(pairsOf))
  const gainOf = (trace: Step[]) => new Set(pairsOf(trace).filter((pair) => missing.has(pair))).size
  const traces: Step[][] = []
  while (traces.length < most && missing.size > 0) {
    const best = walks.reduce((a, b) => (gainOf(b) > gainOf(a) ? b : a))
    for (const pair of pairsOf(best)) missing.delete(pair)
    traces.push(best)
  }
  traces.push(...walks.slice(0, sampled))
  const actions = new Set(traces.flat().map(({ action }) => action))
  const others = walks.flat().flatMap(({ action }) => (actions.has(action) ? [] : action))
  return { traces, missed: { pairs: [...missing], actions: [...new Set(others)] } }
}
