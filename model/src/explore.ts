// Visits every state within the bounds, the nearest first, and stops at the first that breaks a promise.

import { anchors, moveChain } from './anchors.ts'
import { continuity, restore } from './continuity.ts'
import { INVARIANTS } from './invariants.ts'
import { pay, purchases } from './purchases.ts'
import { initialState, type Model, type State, type Step, turnOf } from './state.ts'
import { statements } from './statements.ts'

interface Explored {
  states: number
  steps: number
  /** Steps from the initial state to the farthest one. */
  depth: number
  seconds: number
  violation: { promise: string; what: string; trace: Step[] } | null
}

const OUTSIDE = [pay, moveChain, restore]
const OF_PROCESSES = [...purchases, ...statements, ...anchors, ...continuity]

/** Every step that may follow. */
export function stepsFrom(state: State, model: Model): Step[] {
  const each = state.processes.map((_, index) => turnOf(state, index, model))
  return [
    ...OUTSIDE.flatMap((action) => action(state, model)),
    ...each.flatMap((turn) => OF_PROCESSES.flatMap((action) => action(turn))),
  ]
}

type Origin = Pick<Step, 'action' | 'actor' | 'about'> & { before: number }

export function explore(model: Model): Explored {
  const startedAt = performance.now()
  const first = initialState(model)
  const visited = new Set([textOf(first)])
  const origins: (Origin | null)[] = [null]
  let layer = [{ state: first, before: 0 }]
  let [steps, depth] = [0, 0]
  const result = (violation: Explored['violation']): Explored => {
    return { states: visited.size, steps, depth, seconds: (performance.now() - startedAt) / 1000, violation }
  }
  for (; layer.length > 0; depth++) {
    const found: typeof layer = []
    for (const { state, before } of layer) {
      for (const { action, actor, about, next } of stepsFrom(state, model)) {
        steps++
        const text = textOf(next)
        if (visited.has(text)) continue
        visited.add(text)
        const at = origins.push({ action, actor, about, before }) - 1
        const broken = brokenIn(next)
        if (broken) return result({ ...broken, trace: retrace(model, origins, at) })
        found.push({ state: next, before: at })
      }
    }
    layer = found
  }
  return result(null)
}

const CODES = new Map<string, string>()

/** A character for each word that occurs, so that millions of states fit into memory. */
function code(text: string): string {
  const known = CODES.get(text) ?? String.fromCharCode(CODES.size + 33)
  CODES.set(text, known)
  return known
}

/** Every property is written in one order, so equal states have one text. */
function textOf({ db, history, backup, journals, processes, chain, answered, left }: State): string {
  const sets = [db, backup].map((each) =>
    each ? all(each.docs) + all(each.pending) + code(each.completeOn.join()) : '-',
  )
  const tasks = processes.map(({ gate, history, operation: of }) => {
    return code(gate) + history + (of ? code(of.at) + code(of.of) + code(of.doc) + code(of.after) + of.history : '-')
  })
  const txs = Object.entries(chain).map(([tx, status]) => code(tx) + code(status))
  const limits = Object.values(left).join('')
  return `${sets.join('')} ${history}${limits} ${tasks.join('')} ${txs.join('')} ${journals.map(all).join('')}${all(answered)}`
}

function all(docs: readonly string[]): string {
  return `${docs.map(code).join('')} `
}

function brokenIn(state: State): { promise: string; what: string } | null {
  for (const [promise, find] of Object.entries(INVARIANTS)) {
    const what = find(state)
    if (what !== null) return { promise, what }
  }
  return null
}

function retrace(model: Model, origins: readonly (Origin | null)[], end: number): Step[] {
  const path: Origin[] = []
  for (let at = origins[end]; at; at = origins[at.before]) path.unshift(at)
  let state = initialState(model)
  return path.map(({ action, actor, about }) => {
    const isSame = (each: Step) => each.action === action && each.actor === actor && each.about === about
    const step = stepsFrom(state, model).find(isSame)!
    state = step.next
    return step
  })
}

/** A trace as a numbered list. */
export function describeTrace(trace: readonly Pick<Step, 'action' | 'actor' | 'about'>[]): string {
  const line = ({ action, actor, about }: (typeof trace)[number], i: number) => {
    const who = actor === null ? 'outside' : `process ${actor}`
    return `${String(i + 1).padStart(3)}. ${who.padEnd(10)} ${action} ${about}`.trimEnd()
  }
  return trace.map(line).join('\n')
}
