// JSON cases as bodies of every operation, as signed envelopes, and in headers. A service must agree with the strict
// reader.

import { type JsonCase, KINDS, type Outcome } from './cases.ts'
import { jsonProblem } from './json-rule.ts'
import { CRASHED, type Objection } from './readers.ts'
import { type Answer, type Send, type Services, startServices } from './services.ts'

export async function checkOverHttp(cases: readonly JsonCase[]): Promise<Outcome[]> {
  const services = await startServices()
  const headers = Object.entries(services.inHeaders).map(([name, send]): Place => [name, send, null])
  // An empty header counts as no header.
  const inHeader = cases.filter(({ bytes }) => bytes.length > 0 && bytes.length <= MAX_IN_HEADER)
  try {
    return [
      await checkBodies(services, cases),
      await outcome(
        `${KINDS.json}, signed envelopes`,
        [['envelope', services.sendEnvelope, objectionToEnvelope]],
        inHeader,
      ),
      await outcome(`${KINDS.json}, other headers`, headers, inHeader),
    ]
  } finally {
    await services.close()
  }
}

/** Longer headers end the connection before any answer. */
const MAX_IN_HEADER = 8192

/** Null for a place where only the status is known. */
type Judge = ((answer: Answer) => Objection) | null
type Place = [name: string, send: Send, judge: Judge]

async function checkBodies({ operations, sender }: Services, cases: readonly JsonCase[]): Promise<Outcome> {
  const places: Place[] = []
  for (const operation of operations) {
    const { method, path, takesJson } = operation
    places.push([`${method} ${path}`, await sender(operation), takesJson ? objectionToBody : null])
  }
  const readers = places.filter(([, , judge]) => judge !== null).length
  const { notes, ...made } = await outcome(`${KINDS.json}, bodies of ${places.length} operations`, places, cases)
  return {
    ...made,
    notes: [...notes, `${readers} operations take JSON; the others only must not fail`],
  }
}

async function outcome(kind: string, places: readonly Place[], cases: readonly JsonCase[]): Promise<Outcome> {
  const problems: string[] = []
  for (const [name, send, judge] of places) {
    const found = await inGroups(cases, (one) => problemAt(send, judge, one))
    problems.push(...found.flatMap((problem, i) => (problem ? [`${name}: ${cases[i]?.name}: ${problem}`] : [])))
  }
  const all = places.length * cases.length
  return { kind, cases: all, passed: all - problems.length, problems, notes: [] }
}

const AT_ONCE = 8

async function inGroups<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < all.length; at += AT_ONCE)
    done.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(work))))
  return done
}

async function problemAt(send: Send, judge: Judge, { name, bytes }: JsonCase): Promise<string | null> {
  let answer: Answer
  try {
    answer = await send(bytes)
  } catch (error) {
    return `${CRASHED} no answer: ${error}`
  }
  if (answer.status >= 500) return `${answer.status} ${answer.text.slice(0, 200)}`
  // A missing body is read as an empty object.
  if (!judge || bytes.length === 0) return null
  return jsonProblem({ name, bytes }, judge(answer))
}

interface ErrorAnswer {
  error?: string
  message?: string
  detail?: { loc: (string | number)[]; msg: string }[]
}

const NOT_JSON = 'not valid JSON: '

function objectionToBody({ status, text }: Answer): Objection {
  if (status < 400) return null
  const { error, message, detail = [] } = JSON.parse(text) as ErrorAnswer
  if (error === 'body_too_large') return `longer than allowed: ${message}`
  const [first] = detail
  return first?.loc.join() === 'body' && first.msg.startsWith(NOT_JSON) ? first.msg.slice(NOT_JSON.length) : null
}

const NOT_STRICT = 'the envelope is not strict JSON: '

function objectionToEnvelope({ status, text }: Answer): Objection {
  const { error, message = '' } = JSON.parse(text) as ErrorAnswer
  if (status === 431) return 'longer than headers may be'
  return error === 'SIGNATURE_INVALID' && message.startsWith(NOT_STRICT) ? message.slice(NOT_STRICT.length) : null
}
