// The answer to a failed call: what happened, whether money moved, and what to do next.

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { adviceOn, TOOL_ADVICE } from '@svc/api/error-advice'
import {
  BytesDiffer,
  GatewayError,
  NameTaken,
  NoAnswer,
  NotSubscribed,
  PaymentError,
  UntrueAnswer,
  type UploadDetails,
  uploadDetails,
} from '@svc/sdk/errors'
import { printable } from '@svc/verifier/untrusted'
import { PaymentRequired, Refusal } from '../errors.ts'
import { AGAIN, SERVER_CODES } from './topics.ts'

interface ErrorReport {
  code: string
  message: string
  hint: string | null
  money?: PaymentError['money']
  tx?: string | null
  details?: UploadDetails
}

const MAX_LENGTH = 2000

/** For an upload, the result names the layer that failed; errors of this server belong to the layer `mcp`. */
export function errorResult(error: unknown, { isUpload }: { isUpload: boolean }): CallToolResult {
  if (error instanceof PaymentRequired) {
    // The x402 transport for MCP carries the offer twice: as structured content and as text.
    const { offer } = error
    return { isError: true, structuredContent: offer, content: [{ type: 'text', text: JSON.stringify(offer) }] }
  }
  const described = describeError(error)
  const report = isUpload ? { ...described, details: ownDetails(error, described) } : described
  const hint = report.hint === null ? '' : ` Next: ${sentence(report.hint)}`
  const text = printable(`${report.code}: ${sentence(report.message)}${hint}`, MAX_LENGTH)
  return { isError: true, content: [{ type: 'text', text }], _meta: { 'svc/error': report } }
}

function ownDetails(error: unknown, { hint }: ErrorReport): UploadDetails {
  const details = uploadDetails(error, 'mcp')
  return details.layer === 'mcp' && hint !== null ? { ...details, recovery_hint: hint } : details
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

export function describeError(error: unknown): ErrorReport {
  if (error instanceof Refusal)
    return { code: error.code, message: error.message, hint: error.hint ?? SERVER_CODES[error.code].next }
  if (error instanceof PaymentError) return aboutPayment(error)
  if (error instanceof GatewayError) return aboutGateway(error)
  if (error instanceof NoAnswer) return { code: 'no_answer', message: error.message, hint: noAnswerHint(error) }
  if (error instanceof NotSubscribed)
    return { code: 'not_subscribed', message: error.message, hint: SERVER_CODES.not_subscribed.next }
  if (error instanceof NameTaken) return { code: 'PRECONDITION_FAILED', message: error.message, hint: null }
  if (error instanceof UntrueAnswer || error instanceof BytesDiffer)
    return { code: 'untrue_answer', message: error.message, hint: SERVER_CODES.untrue_answer.next }
  if ((error as Error).name === 'AbortError') return { code: 'cancelled', message: 'it was cancelled', hint: AGAIN }
  if (error instanceof RangeError)
    return { code: 'bad_arguments', message: error.message, hint: SERVER_CODES.bad_arguments.next }
  return {
    code: 'unexpected',
    message: 'an unexpected error occurred on this server; its log has the details',
    hint: AGAIN,
  }
}

function noAnswerHint({ service }: NoAnswer): string {
  return `the ${service} may be unavailable: try again later, or tell the user; ${AGAIN}`
}

/** The code states whether money moved: a model must not get that wrong. */
function aboutPayment({ money, message, tx, cause }: PaymentError): ErrorReport {
  if (money === 'not_moved') {
    const hint = cause instanceof GatewayError ? hintOf(cause) : null
    return { code: 'not_paid', message: `${message}. Nothing was paid`, hint, money, tx }
  }
  const code = money === 'moved' ? 'paid_but_unfinished' : 'payment_uncertain'
  const hint =
    'call the same tool again with the SAME intent and arguments: it continues and pays nothing twice. Do not use another'
  return { code, message: tx === null ? message : `${message} (payment ${tx})`, hint: `${hint} intent`, money, tx }
}

function aboutGateway(error: GatewayError): ErrorReport {
  const { code, message, inputs, service } = error
  const wrong = inputs.length > 0 ? `: ${inputs.map(({ loc, msg }) => `${loc.join('.')} ${msg}`).join('; ')}` : ''
  return { code, message: `the ${service} refuses: ${message}${wrong}`, hint: hintOf(error) }
}

function hintOf({ code, status, hint, retryAfter, service }: GatewayError): string | null {
  const later = retryAfter === null ? '' : `; try again in ${retryAfter} seconds`
  const next = adviceOn(TOOL_ADVICE, code) ?? hint ?? (status >= 500 ? `the ${service} failed: try again later` : null)
  return next === null ? null : next + later
}
