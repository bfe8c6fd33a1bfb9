// The state of the model: what is durable, what each process has in memory, and what the outside has learned.

import { type Docs, keyOf, kindOf, withAll, word } from './documents.ts'
import type { Mutant } from './mutants.ts'

interface Database {
  docs: Docs
  /** Keys of committed documents that are perhaps in no journal. */
  pending: Docs
  /** On which history each machine's journal was found complete. */
  completeOn: readonly number[]
}

/** A request or job between two of its atomic steps. A crash forgets it. */
interface Operation {
  /** The next step. */
  at: string
  /** Quote and transaction, or the anchor. */
  of: string
  /** The document that it makes or shows. */
  doc: string
  /** What follows when the journal has the document. */
  after: 'answer' | 'send' | 'signNext' | 'end'
  /** The history of the database when it began. */
  history: number
}

interface Process {
  gate: 'checking' | 'behind' | 'current'
  /** The history that this process has noticed. */
  history: number
  operation: Operation | null
}

/** `signed`: no node has it. `lost`: nodes have forgotten it, and it may be sent again. `expired`: it can never land. */
export type OnChain = 'signed' | 'pool' | 'processed' | 'confirmed' | 'finalized' | 'lost' | 'expired'

type Limited = 'crash' | 'restore' | 'fork' | 'drop' | 'expire'

export interface State {
  db: Database
  /** Another one after each restore. */
  history: number
  backup: Database | null
  /** One of each machine; entries stay forever. */
  journals: readonly Docs[]
  processes: readonly Process[]
  chain: Readonly<Record<string, OnChain>>
  /** Documents that anyone outside has learned of. */
  answered: Docs
  /** How often each of these may still happen. */
  left: Readonly<Record<Limited, number>>
}

export interface Bounds extends Record<Limited, number> {
  quotes: number
  payments: number
  statements: number
  anchors: number
  processes: number
  /** On two machines each has a journal that the other cannot read, and the database is restored under both. */
  machines: 1 | 2
  /** What is there at the beginning. */
  docs: Docs
}

export interface Model {
  bounds: Bounds
  mutant: Mutant | null
}

/** An action and the state after it. `actor`: the process, or null for the outside. */
export interface Step {
  action: string
  actor: number | null
  about: string
  next: State
}

/** A process that may take a step. */
export interface Turn extends Process {
  index: number
  model: Model
  machine: number
  /** As it is when the process has reached the database, and noticed what answers. */
  state: State
  /** Before that. */
  before: State
  step(action: string, about: string, next: State, operation: Operation | null): Step[]
}

export function initialState({ bounds }: Model): State {
  const { crash, restore, fork, drop, expire, machines, docs } = bounds
  const each = <T>(count: number, value: T) => Array.from({ length: count }, () => value)
  return {
    db: { docs, pending: [], completeOn: each(machines, 0) },
    history: 0,
    backup: null,
    journals: each(machines, docs),
    processes: each<Process>(bounds.processes, { gate: 'current', history: 0, operation: null }),
    chain: {},
    answered: docs,
    left: { crash, restore, fork, drop, expire },
  }
}

export function turnOf(before: State, index: number, model: Model): Turn {
  const { history, operation } = before.processes[index]!
  const isOther = history !== before.history
  const state = isOther ? setProcess(before, index, { history: before.history, gate: 'checking' }) : before
  const step: Turn['step'] = (action, about, next, operation) => [
    { action, actor: index, about, next: setProcess(next, index, { operation }) },
  ]
  return {
    ...state.processes[index]!,
    operation,
    index,
    model,
    machine: index % before.journals.length,
    state,
    before,
    step,
  }
}

export function setProcess(state: State, index: number, change: Partial<Process>): State {
  return { ...state, processes: state.processes.with(index, { ...state.processes[index]!, ...change }) }
}

/** A commit waits for a comparison that is under way. */
export function isWaiting({ gate, state, before }: Turn): boolean {
  return gate === 'checking' && state === before
}

/** Writes a row and its pending name in one transaction, which the gate checks first; null when it refuses. */
export function commit({ state, before, index, gate, model: { mutant } }: Turn, doc: string): State | null {
  const isEarly = mutant === 'asks the gate before the transaction only'
  const seen = isEarly ? before.processes[index]!.gate : gate
  if (seen !== 'current' && mutant !== 'skips the gate') return null
  const { docs, pending } = state.db
  const others = docs.filter((each) => keyOf(each) !== keyOf(doc))
  const names = mutant === 'commits without the names of documents' ? pending : withAll(pending, keyOf(doc))
  return { ...state, db: { ...state.db, docs: withAll(others, doc), pending: names } }
}

/** Sequences have one digit. */
export function newestStatement({ db }: State): { doc: string; digest: string; sequence: number } {
  const doc = db.docs.findLast((each) => word(each, 0) === 'statement') ?? ''
  return { doc, digest: word(doc, 1), sequence: Number(word(doc, 2)) }
}

export function statementOf({ db }: State, publication: string): string[] {
  return kindOf(db.docs, 'statement').filter((each) => word(each, 1) === word(publication, 2))
}

export function spend(state: State, what: Limited): State {
  return { ...state, left: { ...state.left, [what]: state.left[what] - 1 } }
}

export function setOnChain(state: State, action: string, tx: string, now: OnChain): Step {
  return { action, actor: null, about: tx, next: { ...state, chain: { ...state.chain, [tx]: now } } }
}
