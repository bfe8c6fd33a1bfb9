// The report of a failed command: what happened, what to do next, and the exit code.

import { inspect } from 'node:util'
import {
  BytesDiffer,
  DecryptionError,
  GatewayError,
  NoAnswer,
  NotSubscribed,
  PaymentError,
  type ServiceName,
  UntrueAnswer,
} from '@svc/sdk/errors'
import { EXIT, Failure, Interrupted, NotVerified, UsageError } from './errors.ts'
import { jsonLine, shown } from './output/shown.ts'
import { styleFor } from './output/style.ts'
import type { Environment, World } from './world.ts'

export interface ErrorReport {
  exitCode: number
  /** For programs: the gateway's own code, or the kind of failure. */
  code: string
  message: string
  hint: string | null
}

/** Writes the error to stderr and returns the exit code. */
export function report(world: World, error: unknown, { json }: { json: boolean }): number {
  const { env, stderr } = world
  const { hint, ...rest } = describeError(error)
  const described = { ...rest, hint: rest.code === 'no_answer' ? (proxyHint(env) ?? hint) : hint }
  if (json) {
    const { exitCode: exit_code, ...document } = described
    stderr.write(`${jsonLine({ error: { ...document, exit_code } })}\n`)
  } else {
    const style = styleFor(stderr, env)
    stderr.write(`${style.bad('error:')} ${shown(described.message)}\n`)
    if (described.hint) stderr.write(`${style.dim('hint:')}  ${shown(described.hint)}\n`)
  }
  if (env.SVC_DEBUG) stderr.write(`${inspect(error)}\n`)
  return described.exitCode
}

export function describeError(error: unknown): ErrorReport {
  if (error instanceof PaymentError) return aboutPayment(error)
  if (isInterruption(error)) {
    const hint = 'run the same command again to resume'
    return { exitCode: EXIT.interrupted, code: 'interrupted', message: 'interrupted', hint }
  }
  if (error instanceof GatewayError) return aboutRefusal(error)
  if (error instanceof NoAnswer) {
    const hint = `is it running, and is this its address? (${ADDRESS_OF[error.service]})`
    return { exitCode: EXIT.failed, code: 'no_answer', message: error.message, hint }
  }
  if (error instanceof NotSubscribed) {
    const hint = '`svc subscribe` buys thirty days, for the wallet that owns the locker'
    return { exitCode: EXIT.failed, code: 'not_subscribed', message: error.message, hint }
  }
  if (error instanceof UntrueAnswer || error instanceof BytesDiffer) return aboutUntruth(error)
  if (error instanceof DecryptionError) {
    const hint =
      error.code === 'wrong_key' ? 'which wallet, age key (--identity) or passphrase was it encrypted with?' : null
    return { exitCode: EXIT.failed, code: error.code, message: error.message, hint }
  }
  if (error instanceof NotVerified) return aboutFailure(error, EXIT.unverified, 'not_verified')
  if (error instanceof UsageError) return aboutFailure(error, EXIT.usage, 'usage')
  if (error instanceof Failure) return aboutFailure(error, EXIT.failed, 'failed')
  return aboutUnexpected(error)
}

/** Node ignores proxy variables unless NODE_USE_ENV_PROXY is set. */
function proxyHint({
  HTTPS_PROXY,
  https_proxy,
  HTTP_PROXY,
  http_proxy,
  NODE_USE_ENV_PROXY,
}: Environment): string | null {
  const isThere = [HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy].some(Boolean)
  return isThere && !NODE_USE_ENV_PROXY ? 'to go through your proxy, set NODE_USE_ENV_PROXY=1' : null
}

const ADDRESS_OF: Record<ServiceName, string> = {
  gateway: '--gateway, SVC_GATEWAY, or `svc config set gateway URL`',
  'agent service': '--agent, SVC_AGENT, or `svc config set agent URL`',
}

function isInterruption(error: unknown): boolean {
  const { name, cause } = error as Error
  return (
    error instanceof Interrupted || (name === 'AbortError' && (cause === undefined || cause instanceof Interrupted))
  )
}

function aboutFailure({ message, hint }: Failure, exitCode: number, code: string): ErrorReport {
  return { exitCode, code, message, hint }
}

/** The message says first whether money moved: that is what users worry about. */
function aboutPayment({ money, message, tx, cause }: PaymentError): ErrorReport {
  if (money === 'not_moved') {
    const why = OURS.some((kind) => cause instanceof kind) ? describeError(cause) : null
    const { exitCode = EXIT.failed, code = 'not_paid', hint = null } = why ?? {}
    return { exitCode, code, message: `${why?.message ?? message}. Nothing was paid`, hint }
  }
  const next = 'run the same command again: it resumes this purchase and never pays twice'
  const theirs = cause instanceof GatewayError ? cause.hint : null
  return {
    exitCode: EXIT.payment,
    code: money === 'moved' ? 'paid_but_unfinished' : 'payment_uncertain',
    message: `${message}${tx === null ? '' : ` (payment ${tx})`}${becauseOf(cause, message)}`,
    hint: theirs === null ? next : `${theirs}; then ${next}`,
  }
}

function becauseOf(cause: unknown, message: string): string {
  return cause instanceof Error && !message.includes(cause.message) ? `: ${cause.message}` : ''
}

/** Causes whose own message is better than that of the payment error. */
const OURS = [Failure, Interrupted, UntrueAnswer, GatewayError, NoAnswer]

function aboutRefusal({ code, message, hint, inputs, requestId, status, service }: GatewayError): ErrorReport {
  const wrong = inputs.length > 1 ? `: ${inputs.map(({ loc, msg }) => `${loc.join('.')} ${msg}`).join('; ')}` : ''
  const request = requestId === null ? '' : `, request ${requestId}`
  return {
    exitCode: EXIT.failed,
    code,
    message: `the ${service} refuses: ${message}${wrong} (${code}${request})`,
    hint: hintAfter(hint, COMMANDS_FOR[code] ?? hintFor(status, code, service)),
  }
}

function hintFor(status: number, code: string, service: ServiceName): string | null {
  if (status >= 500) return 'the error is on its side: try again later'
  return code === `http_${status}` ? `is this the address of the ${service}? (${ADDRESS_OF[service]})` : null
}

/** The gateway's hint is about HTTP, so the command to run follows it. */
function hintAfter(theirs: string | null, ours: string | null): string | null {
  return theirs !== null && ours !== null ? `${theirs}; here: ${ours}` : (theirs ?? ours)
}

const COMMANDS_FOR: Record<string, string> = {
  OWNER_REQUIRED: 'only the wallet that paid may do this: give it with --wallet',
  OWNER_IDENTITY_MISMATCH: 'only the wallet that paid may do this: give it with --wallet',
  SIGNATURE_INVALID: 'is this the wallet that paid, or an operator of the locker? `svc whoami` shows it',
  receipt_not_found: 'is this the gateway that sold it? `svc lockers` shows where each locker is',
  locker_not_found: 'a locker is opened with `svc provision RECEIPT`',
  attestation_not_available: 'run `svc attest` first',
  EMPTY_FILE_LIST: 'put files into the locker first: `svc put PATH`',
  FILE_NOT_FOUND: '`svc ls` shows what is there',
  delegation_not_found: '`svc delegations` lists those of this wallet; --wallet names another',
  DELEGATION_LIMIT_EXCEEDED: '`svc delegations --end ID` ends one',
}

function aboutUntruth(error: UntrueAnswer | BytesDiffer): ErrorReport {
  const message =
    error instanceof UntrueAnswer ? `the service does not tell the truth: ${error.message}` : error.message
  const hint = 'do not rely on this answer; keep it, and ask the operator of the service'
  return { exitCode: EXIT.unverified, code: error.name, message, hint }
}

function aboutUnexpected(error: unknown): ErrorReport {
  const { message, code } = error as NodeJS.ErrnoException
  const hint = code === undefined ? 'SVC_DEBUG=1 shows where this comes from' : null
  return { exitCode: EXIT.failed, code: code ?? 'unexpected', message: message ?? String(error), hint }
}
