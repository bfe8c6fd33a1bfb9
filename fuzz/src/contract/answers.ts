// Compares an answer with the interface description.

import { ERROR_STATUS, ErrorBody, type ErrorCode, errorStatus } from '@svc/api/errors'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer } from './exchange.ts'
import type { DeclaredAnswer, Description, Operation, Schema } from './operation.ts'

/** The problem of an answer; null if there is none. */
export type CheckAnswer = (operation: Operation, answer: Answer) => string | null

/** Errors that any request may get, before its operation is known. */
const GENERAL_CODES: readonly string[] = [
  'not_found',
  'method_not_allowed',
  'malformed_request',
  'body_too_large',
  'expectation_failed',
  'unsupported_encoding',
  'unsupported_media_type',
  'headers_too_large',
] satisfies ErrorCode[]

/** A 5xx that the request itself causes. */
const OWN_5XX: readonly string[] = ['tx_not_found_on_chain', 'LOCKER_CAPACITY_EXCEEDED'] satisfies ErrorCode[]

export function answerCheck({ components }: Pick<Description, 'components'>): CheckAnswer {
  const ajv = new Ajv2020({ strict: false, validateSchema: false }).addSchema(absolute({ components }), DOCUMENT)
  const compiled = new Map<Schema, ValidateFunction>()
  const isError = ajv.compile(ErrorBody)

  function mismatch(schema: Schema, value: unknown): string | null {
    let check = compiled.get(schema)
    if (!check) {
      check = ajv.compile(absolute(schema))
      compiled.set(schema, check)
    }
    return check(value) ? null : ajv.errorsText(check.errors, { dataVar: 'body' })
  }

  function wrongSuccess({ method }: Operation, declared: DeclaredAnswer, answer: Answer): string | null {
    for (const [name, value] of Object.entries(declared.headers)) {
      const found = answer.headers[name]
      const isCompressible = name === 'vary' && found === `${value}, accept-encoding`
      if (found !== value && !isCompressible) return `${name} is ${found}, declared as ${value}`
    }
    const type = answer.headers['content-type'] ?? ''
    const found = Object.entries(declared.content).find(([declaredType]) => isType(type, declaredType))
    if (method === 'HEAD' || BODYLESS.includes(answer.status)) return answer.body.length > 0 ? 'has a body' : null
    if (!found) return `is ${type || 'of no type'}, declared as ${Object.keys(declared.content).join(' or ')}`
    const [declaredType, schema] = found
    return /[/+]json$/.test(declaredType) ? mismatch(schema, jsonOf(answer)) : null
  }

  function wrongError(operation: Operation, answer: Answer): string | null {
    const { status, headers } = answer
    if (headers['cache-control']?.includes('no-store') !== true) return 'an error that may be cached'
    if (operation.method === 'HEAD') return answer.body.length > 0 ? 'has a body' : null
    const type = headers['content-type'] ?? ''
    const problem = isType(type, PROBLEM_TYPE) && operation.answers[status]?.content[PROBLEM_TYPE]
    if (problem) return mismatch(problem, jsonOf(answer))
    if (type !== 'application/json; charset=utf-8') return `an error of type ${type}`
    const body = jsonOf(answer)
    if (!isError(body)) return `not an error body: ${ajv.errorsText(isError.errors)}`
    const { error, hint } = body as ErrorBody
    if (!(error in ERROR_STATUS)) return `the code ${error} is not known`
    const code = error as ErrorCode
    if (!hint) return `${code} without a hint`
    if (errorStatus(code, operation.method) !== status && code !== 'unsupported_encoding')
      return `${code} with ${status}`
    const declared = operation.answers[status]?.codes.includes(code) ?? false
    if (!declared && !GENERAL_CODES.includes(code)) return `${code} is not declared`
    return status >= 500 && !OWN_5XX.includes(code) ? `${code}, our own fault` : null
  }

  return (operation, answer) => {
    const { status, headers, body } = answer
    if (headers['x-request-id'] === undefined) return `${status} without X-Request-Id`
    const declared = operation.answers[status]
    const problem =
      status < 400 || isQuote(answer)
        ? declared
          ? wrongSuccess(operation, declared, answer)
          : 'not declared'
        : wrongError(operation, answer)
    return problem && `${status} ${problem}${status >= 500 ? ` ${body.toString().slice(0, 300)}` : ''}`
  }
}

const DOCUMENT = 'openapi.json'

/** With absolute references to the document, which is then compiled once. */
function absolute(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`)) as Schema
}

/** Whether the request was accepted: a 402 with an offer is the expected answer of a quote. */
export function isSuccess(answer: Answer): boolean {
  return answer.status < 400 || isQuote(answer)
}

function isQuote(answer: Answer): boolean {
  return (
    answer.status === 402 && answer.headers['payment-required'] !== undefined && 'accepts' in Object(jsonOf(answer))
  )
}

/** The type of rejected payment credentials, whose codes have other statuses elsewhere. */
const PROBLEM_TYPE = 'application/problem+json'
const BODYLESS = [201, 204, 303, 304, 307]

function isType(actual: string, declared: string): boolean {
  if (declared === '*/*') return true
  return declared.includes(';') ? actual === declared : actual.split(';', 1)[0] === declared
}

function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
