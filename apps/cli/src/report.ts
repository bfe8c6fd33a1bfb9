// The report of a failed command: what happened, what to do next, and the exit code.

import { inspect } from 'node:util'
import { adviceOn, COMMAND_ADVICE } from '@svc/api/error-advice'
import {
  BytesDiffer,
  DecryptionError,
  GatewayError,
  InvalidFilename,
  isShortage,
  NoAnswer,
  NotSubscribed,
  NotThisService,
  networkErrorCode,
  PaymentError,
  type ServiceName,
  UntrueAnswer,
  type UploadDetails,
  uploadDetails,
} from '@svc/sdk/errors'
import { EXIT, Failure, Interrupted, Misuse, NotVerified, UsageError } from './errors.ts'
import { NAME_RULES } from './files/names.ts'
import type { Environment, Host } from './host.ts'
import { jsonLine, shown, terminalSafe } from './output/shown.ts'
import { styleFor } from './output/style.ts'

export interface ErrorReport {
  exitCode: number
  /** Read by programs: the gateway's own code, or the kind of failure. */
  code: string
  message: string
  hint: string | null
  /** The service's documentation of the code. */
  docsUrl?: string | null
}

interface ReportOptions {
  json: boolean
  /** Replaces the hint of the error. */
  hint?: string | null
  /** The command uploads: its JSON names the layer that failed, like the gateway's errors. */
  isUpload?: boolean
}

/** Writes the error to stderr and returns the exit code. */
export function report(
  host: Host,
  error: unknown,
  { json, hint: better = null, isUpload = false }: ReportOptions,
): number {
  const { env, stderr } = host
  const { hint, ...rest } = describeError(error)
  const described = { ...rest, hint: better ?? (rest.code === 'no_answer' ? (proxyHint(env) ?? hint) : hint) }
  const style = styleFor(stderr, env)
  if (json) {
    const { exitCode: exit_code, docsUrl, ...document } = described
    const more = {
      ...(docsUrl && { docs_url: docsUrl }),
      ...(isUpload && { details: uploadDetailsOf(error, described.hint) }),
    }
    stderr.write(`${jsonLine({ error: { ...document, ...more, exit_code } })}\n`)
  } else if (error instanceof Misuse) {
    stderr.write(`${style.bad(`${error.command}:`)} ${shown(error.message)}. See: ${error.hint}\n`)
  } else {
    stderr.write(`${style.bad('error:')} ${shown(described.message)}\n`)
    if (described.hint) stderr.write(`${style.dim('hint:')}  ${shown(described.hint)}\n`)
    if (described.docsUrl) stderr.write(`${style.dim('more:')}  ${shown(described.docsUrl)}\n`)
  }
  if (env.SVC_DEBUG) stderr.write(`${terminalSafe(inspect(error))}\n`)
  return described.exitCode
}

/**
 * `svc` runs where the bytes are, so its own errors belong to the layer `sandbox_runtime`. A summary of many files
 * reports the first that failed.
 */
export function uploadDetailsOf(error: unknown, hint: string | null): UploadDetails {
  const details = uploadDetails((error instanceof Failure && error.cause) || error, 'sandbox_runtime')
  return details.layer === 'sandbox_runtime' && hint !== null ? { ...details, recovery_hint: hint } : details
}

export function describeError(error: unknown): ErrorReport {
  if (error instanceof PaymentError) return aboutPayment(error)
  if (isInterruption(error)) {
    const hint = 'run the same command again to resume'
    return { exitCode: EXIT.interrupted, code: 'interrupted', message: 'interrupted', hint }
  }
  if (error instanceof GatewayError) return aboutRefusal(error)
  if (error instanceof NoAnswer) {
    return { exitCode: EXIT.failed, code: 'no_answer', message: error.message, hint: hintForNoAnswer(error) }
  }
  if (error instanceof NotSubscribed) {
    const hint = '`svc subscribe` buys thirty days for the wallet that owns the locker'
    return { exitCode: EXIT.failed, code: 'not_subscribed', message: error.message, hint }
  }
  if (error instanceof UntrueAnswer || error instanceof BytesDiffer) return aboutUntruth(error)
  if (error instanceof DecryptionError) {
    const hint =
      error.code === 'wrong_key'
        ? 'use the wallet, age key (--identity) or passphrase that it was encrypted with'
        : null
    return { exitCode: EXIT.failed, code: error.code, message: error.message, hint }
  }
  if (error instanceof NotVerified) return aboutFailure(error, EXIT.unverified, 'not_verified')
  if (error instanceof UsageError) return aboutFailure(error, EXIT.usage, 'usage')
  if (error instanceof InvalidFilename)
    return { exitCode: EXIT.usage, code: 'usage', message: error.message, hint: NAME_RULES }
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

function hintForNoAnswer(error: NoAnswer): string {
  const code = networkErrorCode(error) ?? ''
  const address = ADDRESS_OF[error.service]
  if (error instanceof NotThisService) return `is this the address of the ${error.service}? (${address})`
  if (code === 'CERT_NOT_YET_VALID' || code === 'CERT_HAS_EXPIRED')
    return 'check the clock of this machine; if it is right, ask the admin of the service'
  if (code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_'))
    return 'if the service uses a private certificate authority, set NODE_EXTRA_CA_CERTS to the file with its certificate'
  if (code === 'ENOTFOUND' || code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `check the address: ${address}`
  return `check that it is running at this address (${address})`
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

/** The message first states whether money moved, which users need to know most. */
function aboutPayment({ money, message, tx, cause }: PaymentError): ErrorReport {
  if (money === 'not_moved') {
    const why = OURS.some((kind) => cause instanceof kind) ? describeError(cause) : null
    const { exitCode = EXIT.failed, code = 'not_paid', hint = isShortage(message) ? FILL_WALLET : null } = why ?? {}
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

const FILL_WALLET = 'send it to that address (on the local chains: `svc faucet`), then run the same command again'

function becauseOf(cause: unknown, message: string): string {
  return cause instanceof Error && !message.includes(cause.message) ? `: ${cause.message}` : ''
}

/** Causes whose own message is better than that of the payment error. */
const OURS = [Failure, Interrupted, UntrueAnswer, GatewayError, NoAnswer]

function aboutRefusal({ code, message, hint, docsUrl, inputs, requestId, status, service }: GatewayError): ErrorReport {
  const wrong = inputs.length > 1 ? `: ${inputs.map(({ loc, msg }) => `${loc.join('.')} ${msg}`).join('; ')}` : ''
  const request = requestId === null ? '' : `, request ${requestId}`
  return {
    exitCode: EXIT.failed,
    code,
    message: `the ${service} refuses: ${message}${wrong} (${code}${request})`,
    // The gateway's advice about a missing file is meant for writing a file.
    hint: hintAfter(
      code === 'FILE_NOT_FOUND' ? null : hint,
      adviceOn(COMMAND_ADVICE, code) ?? hintFor(status, code, service),
    ),
    docsUrl,
  }
}

function hintFor(status: number, code: string, service: ServiceName): string | null {
  if (status >= 500) return 'the error is in the service: try again later'
  return code === `http_${status}` ? `is this the address of the ${service}? (${ADDRESS_OF[service]})` : null
}

/** The gateway's hint is about HTTP, so the hint about the command follows it. */
function hintAfter(theirs: string | null, ours: string | null): string | null {
  return theirs !== null && ours !== null ? `${theirs}; here: ${ours}` : (theirs ?? ours)
}

function aboutUntruth(error: UntrueAnswer | BytesDiffer): ErrorReport {
  const message = error instanceof UntrueAnswer ? `the service gave a false answer: ${error.message}` : error.message
  const hint = 'do not rely on this answer; save it, and ask the admin of the service'
  return { exitCode: EXIT.unverified, code: error.name, message, hint }
}

function aboutUnexpected(error: unknown): ErrorReport {
  const { message, code } = error as NodeJS.ErrnoException
  const [problem, advice] = (code !== undefined && ON_DISK[code]) || [null, null]
  const hint = advice ?? (code === undefined ? 'set SVC_DEBUG=1 to see where it occurs' : null)
  const text = message ?? String(error)
  return { exitCode: EXIT.failed, code: code ?? 'unexpected', message: problem ? `${problem}: ${text}` : text, hint }
}

const KEPT = 'complete files are saved: run the same command again'

/** Errors of the file system: the meaning and the next step. */
const ON_DISK: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
  ENOSPC: ['the disk is full', `free some space; ${KEPT}`],
  EDQUOT: ['your disk quota is used up', `free some space; ${KEPT}`],
  EACCES: ['you have no permission', 'change the permissions of that file or folder, or name another one'],
  EPERM: ['you have no permission', 'change the permissions of that file or folder, or name another one'],
  EROFS: ['the disk is read-only', 'name a folder on another disk'],
  EMFILE: ['too many files are open', `raise the limit (ulimit -n); ${KEPT}`],
  ENAMETOOLONG: ['the name is too long for this disk', 'name a folder with a shorter path'],
}
