// Sends generated requests of every operation, one after the other, and checks each answer and its changes.

import { hash } from 'node:crypto'
import type { ChangeLog } from '@svc/devnet/change-log'
import { type CheckAnswer, isSuccess } from './answers.ts'
import { type Case, casesOf, type MakeCases, PLAIN, requestOf, type Words } from './cases.ts'
import { type Line, type Sent, shown } from './exchange.ts'
import type { Operation } from './operation.ts'
import type { Prepared } from './prepare.ts'

interface Finding {
  /** The problem, in one line. */
  problem: string
  /** How to reproduce it. */
  input: string
}

export interface ContractResult {
  cases: number
  findings: Finding[]
  /** Remarks about a run without findings, in one line. */
  note: string
}

/** A running service, and the inputs with which its operations succeed. */
export interface ContractTarget {
  operations: readonly Operation[]
  line: Line
  check: CheckAnswer
  /** Called again after a success, because some operations succeed only once. */
  prepare(operation: Operation): Promise<Prepared>
  /** The same for a locker in another condition, by its name; null for operations that are not about a locker. */
  conditions: Readonly<Record<string, (operation: Operation) => Promise<Prepared | null>>>
  changes: ChangeLog
  /** Tables that a rejected request may change, and why. */
  mayChange: Readonly<Record<string, string>>
  /** Meaningful values of optional inputs, by their names. */
  words: Words
  /** Operations that cannot succeed here, and why. */
  unreached: Readonly<Record<string, string>>
}

interface State {
  cases: MakeCases
  prepared: Prepared | null
  reached: boolean
}

/** Methods that use nothing up. */
const READING = ['GET', 'HEAD']
/** The same problem of the same operation is reported this often. */
const SAME_FINDINGS = 2

interface Runner {
  /** Sends each operation a plain request, some with more inputs, and this many with one thing wrong. */
  round(number: number, seed: number, wrong: number): Promise<void>
  result(): ContractResult
}

export function createRunner(target: ContractTarget): Runner {
  const states = new Map<Operation, State>()
  const findings: (Finding & { operation: Operation; kind: string })[] = []
  let cases = 0

  function report(operation: Operation, problem: string, sent: Sent, what: string): void {
    const kind = problem.replace(/\d+|"[^"]*"|req_\w+/g, '').slice(0, 60)
    const same = findings.filter((finding) => finding.operation === operation && finding.kind === kind)
    if (same.length < SAME_FINDINGS) {
      findings.push({ operation, kind, problem: `${operation.id}: ${problem} (${what})`, input: shown(sent) })
    }
  }

  async function send(operation: Operation, sent: Sent, what: string): Promise<boolean> {
    cases++
    const answer = await target.line.send(sent).catch((error: Error) => error)
    if (answer instanceof Error) {
      report(operation, `no answer: ${answer.message}`, sent, what)
      return false
    }
    const problem = target.check(operation, answer)
    if (problem) report(operation, problem, sent, what)
    const changed = (await target.changes.changedTables()).filter((table) => !(table in target.mayChange))
    if (!isSuccess(answer) && changed.length > 0) {
      report(operation, `refused with ${answer.status}, and changed ${changed.join(', ')}`, sent, what)
    }
    return isSuccess(answer)
  }

  async function make(operation: Operation, state: State, made: Case): Promise<void> {
    state.prepared ??= await target.prepare(operation)
    await target.changes.changedTables()
    const { credential, ...given } = state.prepared
    const { what, sent } = requestOf(operation, given, credential, made)
    if (!(await send(operation, sent, what))) return
    state.reached = true
    if (!READING.includes(operation.method)) state.prepared = null
  }

  /** One condition per call. */
  async function makeWithCondition(operation: Operation, random: number): Promise<void> {
    const conditions = Object.entries(target.conditions)
    const [name, prepare] = conditions[random % conditions.length] ?? []
    const prepared = (await prepare?.(operation)) ?? null
    if (prepared === null) return
    const { credential, ...given } = prepared
    await target.changes.changedTables()
    const { sent } = requestOf(operation, given, credential, PLAIN)
    await send(operation, sent, `of a locker ${name}`)
  }

  return {
    async round(number, seed, wrong) {
      for (const operation of target.operations) {
        const state = states.get(operation) ?? {
          cases: casesOf(operation, target.words),
          prepared: null,
          reached: false,
        }
        states.set(operation, state)
        const own = Number.parseInt(hash('sha256', `${seed} ${number} ${operation.id}`).slice(0, 8), 16)
        for (const made of state.cases(own, wrong)) await make(operation, state, made)
        state.prepared = null
        await makeWithCondition(operation, own)
      }
    },
    result() {
      const coverage = [...states].flatMap(([{ id }, { reached }]) => {
        const reason = target.unreached[id]
        if (reached === (reason === undefined)) return []
        return [{ problem: `${id}: ${reached ? `succeeds, though ${reason}` : 'never succeeded'}`, input: id }]
      })
      const reached = [...states.values()].filter((state) => state.reached).length
      return {
        cases,
        findings: [...findings.map(({ problem, input }) => ({ problem, input })), ...coverage],
        note: `${reached} of ${states.size} operations succeeded`,
      }
    },
  }
}
