// Sends made-up requests of every operation, one after the other, and looks at each answer and at what it changed.

import { hash } from 'node:crypto'
import type { ChangeLog } from '@svc/devnet/change-log'
import * as fc from 'fast-check'
import type { Finding, FuzzResult } from '../target.ts'
import { type CheckAnswer, isSuccess } from './answers.ts'
import { type Credential, type Draft, draftOf, type Given, queryPairs, sentBy, textOf } from './draft.ts'
import { type Line, type Sent, shown } from './exchange.ts'
import { changesOf, headerText, STRANGE } from './mutations.ts'
import type { Operation, Schema } from './operation.ts'
import { propertiesOf, requiredOf, valuesOf } from './values.ts'

/** A running service, and what its operations need to succeed. */
export interface ContractHouse {
  operations: readonly Operation[]
  line: Line
  check: CheckAnswer
  /** Asked again after each success, because some things can be done once. */
  prepare(operation: Operation): Promise<Given & { credential: Credential }>
  changes: ChangeLog
  /** Tables that a refused request may change, and why. */
  mayChange: Readonly<Record<string, string>>
  /** Values of optional inputs that mean something, by their names. */
  words: Readonly<Record<string, readonly unknown[]>>
  /** Operations that cannot succeed here, and why. */
  unreached: Readonly<Record<string, string>>
}

/** One request to make. */
interface Case {
  /** Of optional inputs, which are added and with what. */
  optional: Readonly<Record<string, unknown>>
  /** Which of all changes is made; null for none. */
  change: number | null
  /** Whether the credential is changed instead of the request. */
  ofCredential: boolean
  strange: unknown
}

interface State {
  prepared: Awaited<ReturnType<ContractHouse['prepare']>> | null
  reached: boolean
}

const VALID_EACH_ROUND = 2
const CHANGED_EACH_ROUND = 10
/** The same problem of the same operation is told so often. */
const SAME_FINDINGS = 2

export interface Runner {
  round(number: number, seed: number): Promise<void>
  result(): FuzzResult
}

export function createRunner(house: ContractHouse): Runner {
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
    const answer = await house.line.send(sent).catch((error: Error) => error)
    if (answer instanceof Error) {
      report(operation, `no answer: ${answer.message}`, sent, what)
      return false
    }
    const problem = house.check(operation, answer)
    if (problem) report(operation, problem, sent, what)
    const changed = (await house.changes.take()).filter((table) => !(table in house.mayChange))
    if (!isSuccess(answer) && changed.length > 0) {
      report(operation, `refused with ${answer.status}, and changed ${changed.join(', ')}`, sent, what)
    }
    return isSuccess(answer)
  }

  async function make(operation: Operation, state: State, made: Case): Promise<void> {
    state.prepared ??= await house.prepare(operation)
    await house.changes.take()
    const { credential, ...given } = state.prepared
    const draft = withOptional(draftOf(given), made.optional)
    const { what, sent } = requestOf(operation, draft, credential, made)
    if (!(await send(operation, sent, what))) return
    state.reached = true
    state.prepared = null
  }

  return {
    async round(number, seed) {
      for (const operation of house.operations) {
        const state = states.get(operation) ?? { prepared: null, reached: false }
        states.set(operation, state)
        for (const made of casesOf(operation, house.words, hash('sha256', `${seed} ${number} ${operation.id}`))) {
          await make(operation, state, made)
        }
        state.prepared = null
      }
    },
    result() {
      const coverage = [...states].flatMap(([{ id }, { reached }]) => {
        const reason = house.unreached[id]
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

/** The plain request, valid ones with more inputs, and some that have one thing wrong. */
function casesOf(operation: Operation, words: ContractHouse['words'], digest: string): Case[] {
  const seed = Number.parseInt(digest.slice(0, 8), 16)
  const sample = (cases: fc.Arbitrary<Case>, numRuns: number) => fc.sample(cases, { seed, numRuns })
  const meaningful = optionalInputs(operation, (name) => wordsFor(name, words))
  const any = optionalInputs(operation, (name, schema) => [...wordsFor(name, words), valuesOf(schema)])
  const changed = fc.record({
    optional: meaningful,
    change: fc.nat(),
    ofCredential: operation.security === null ? fc.constant(false) : fc.nat(9).map((one) => one === 0),
    strange: STRANGE,
  })
  return [
    PLAIN,
    ...sample(
      any.map((optional) => ({ ...PLAIN, optional })),
      VALID_EACH_ROUND,
    ),
    ...sample(changed, CHANGED_EACH_ROUND),
  ]
}

const PLAIN: Case = { optional: {}, change: null, ofCredential: false, strange: null }

function wordsFor(name: string, words: ContractHouse['words']): fc.Arbitrary<unknown>[] {
  const known = words[name]
  return known ? [fc.constantFrom(...known)] : []
}

/** Some of the optional inputs, each with one of its values; those that have none are left out. */
function optionalInputs(
  { parameters, body }: Operation,
  valuesFor: (name: string, schema: Schema) => fc.Arbitrary<unknown>[],
): fc.Arbitrary<Case['optional']> {
  const fields = Object.entries(body ? propertiesOf(body) : {}).map(([name, schema]) => {
    return { in: 'body', name, schema, required: body !== null && requiredOf(body).includes(name) }
  })
  const inputs = [...parameters, ...fields].flatMap(({ in: part, name, schema, required }) => {
    const values = required ? [] : valuesFor(name, schema)
    return values.length === 0 ? [] : [[`${part} ${name}`, fc.oneof(...values)] as const]
  })
  const all: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(inputs)
  return fc.record(all, { requiredKeys: [] })
}

/** What the recipe says stays as it is. */
function withOptional(draft: Draft, optional: Case['optional']): Draft {
  const filled = structuredClone(draft)
  for (const [place, value] of Object.entries(optional)) {
    const [part, name = ''] = place.split(' ')
    if (part === 'query' && !filled.query.some(([known]) => known === name))
      filled.query.push(...queryPairs(name, value))
    if (part === 'header') filled.headers[name] ??= headerText(textOf(value))
    if (part === 'body' && filled.body && 'json' in filled.body)
      filled.body.json = { [name]: value, ...Object(filled.body.json) }
  }
  return filled
}

function requestOf(
  operation: Operation,
  draft: Draft,
  credential: Credential,
  made: Case,
): { what: string; sent: Sent } {
  const { change, ofCredential, strange } = made
  if (change === null) return { what: 'as declared', sent: sentBy(operation, draft, credential) }
  if (ofCredential) {
    const sent = sentBy(operation, draft, (...request) => changedCredential(credential(...request), change, strange))
    return { what: 'with a changed credential', sent }
  }
  const changes = changesOf(operation, draft, strange)
  const chosen = changes[change % changes.length]
  if (!chosen) return { what: 'as declared', sent: sentBy(operation, draft, credential) }
  return { what: chosen.what, sent: sentBy(operation, chosen.draft, credential) }
}

function changedCredential(headers: Record<string, string>, change: number, strange: unknown): Record<string, string> {
  const names = Object.keys(headers)
  const name = names[change % names.length] ?? ''
  const { [name]: own = '', ...others } = headers
  const at = change % Math.max(1, own.length)
  const ways = [
    {},
    { [name]: '' },
    { [name]: headerText(textOf(strange)) },
    { [name]: `${own.slice(0, at)}${own[at] === 'A' ? 'B' : 'A'}${own.slice(at + 1)}` },
    { [name]: own.slice(0, -1) },
    { [name]: `${own}, ${own}` },
  ]
  return { ...others, ...ways[Math.floor(change / names.length) % ways.length] }
}
