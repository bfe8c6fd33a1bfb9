// Follows the statements that the gateway signs about a locker: each contains the digest of the previous one, and none
// may disappear or change.

import { CanonicalJsonError } from '@svc/protocol/canonical'
import { isGatewayError, UntrueAnswer } from '@svc/sdk/errors'
import type { Context } from '../../context.ts'
import type { NewFinding } from '../findings/add-findings.ts'
import { type Run, recordStep, requireCurrentTasks, type Summary } from '../runs/run.ts'
import { storableText } from './gateway-errors.ts'
import { findLastStatement, findStatement, putStatement, type SeenStatement } from './watch-store.ts'

interface Statement {
  sequence: number
  digest: string
  /** The digest of the previous statement, as this statement names it. */
  previous: string | null
}

/** Per run; the next run reads the rest. */
const MAX_STATEMENTS = 100
/** Represents a statement that exists but could not be read. */
const UNKNOWN_DIGEST = ''

/** `last` is the summary of the last run that got this far; null in the first run. */
export async function watchStatements(context: Context, run: Run, last: Summary | null): Promise<void> {
  if ('statement' in run.summary) return
  const newest = await readStatement(context, run)
  const seen = await findLastStatement(context.database.db, run.delegation_id)
  const problem = problemWith(newest, seen)
  if (!problem && newest) await follow(context, run, newest as Statement, seen, last === null)
  await recordStep(context, run, async () => {
    if ('statement' in run.summary) return { summary: {} }
    const problemText = problem && `${problem.kind} ${JSON.stringify(problem.detail)}`
    const statement = newest && 'sequence' in newest ? newest.sequence : null
    return {
      findings: [
        // A lasting problem is reported once.
        ...(problem && problemText !== last?.statement_trouble ? [problem] : []),
        ...(last === null ? [baseline(run, statement)] : []),
      ],
      summary: { statement, ...(problemText && { statement_trouble: problemText }) },
    }
  })
}

function baseline({ summary }: Run, statement: number | null): NewFinding {
  const { files = 0, total_bytes = 0 } = summary
  return { kind: 'baseline', detail: { files, total_bytes, statement } }
}

/** The newest statement or a given one; null when there is none; a finding when it cannot be trusted. */
async function readStatement(context: Context, run: Run, sequence?: number): Promise<Statement | NewFinding | null> {
  const { locker, signal } = run
  try {
    const client = context.gateway.client()
    const which = sequence === undefined ? { signal } : { sequence, signal }
    const { attestation } = await client.verify(locker.receipt_id, which)
    if (!attestation?.envelope) return null
    const { body, statement_digest } = attestation.envelope
    if (sequence !== undefined && body.sequence !== sequence)
      throw new UntrueAnswer('the gateway returned a different statement')
    return { sequence: body.sequence, digest: statement_digest, previous: body.prev_statement_digest }
  } catch (error) {
    const of = sequence === undefined ? {} : { sequence }
    if (isGatewayError(error, 'statement_not_found')) return { kind: 'statement_lost', detail: of }
    const reason = distrustReason(error)
    if (reason === null) throw error
    return { kind: 'statement_untrue', detail: { ...of, reason } }
  }
}

/** Null for any other error. A malformed response makes the checks themselves throw. */
function distrustReason(error: unknown): string | null {
  if (error instanceof UntrueAnswer) return storableText(error.message)
  const isMalformed = [TypeError, RangeError, CanonicalJsonError].some((type) => error instanceof type)
  return isMalformed ? 'the response does not have the form of a statement' : null
}

function problemWith(newest: Statement | NewFinding | null, seen: SeenStatement | null): NewFinding | null {
  if (newest && 'kind' in newest) return newest
  const shown = newest?.sequence ?? null
  if (!seen || (shown ?? 0) >= seen.sequence) return null
  return { kind: 'statement_lost', detail: { last_seen: seen.sequence, newest: shown } }
}

/** Reads every statement after the last known one; each must name its predecessor. */
async function follow(
  context: Context,
  run: Run,
  newest: Statement,
  seen: SeenStatement | null,
  isFirst: boolean,
): Promise<void> {
  if (!seen && isFirst) return recordStatement(context, run, newest, [])
  if (seen?.sequence === newest.sequence) return compareNewest(context, run, newest, seen)
  const first = (seen?.sequence ?? 0) + 1
  let before = seen ? seen.digest : null
  for (let sequence = first; sequence <= newest.sequence && sequence < first + MAX_STATEMENTS; sequence++) {
    await requireCurrentTasks(context, context.database.db, run)
    const shown = sequence === newest.sequence ? newest : await readStatement(context, run, sequence)
    const digest = shown && 'digest' in shown ? shown.digest : UNKNOWN_DIGEST
    await recordStatement(context, run, { sequence, digest }, [findingAbout(shown, sequence, before)])
    before = digest
  }
}

async function compareNewest(context: Context, run: Run, newest: Statement, seen: SeenStatement): Promise<void> {
  const { sequence, digest } = newest
  if (digest === seen.digest) return
  const detail = { sequence, before: seen.digest, after: digest }
  const findings: NewFinding[] = seen.digest === UNKNOWN_DIGEST ? [] : [{ kind: 'statement_rewritten', detail }]
  await recordStatement(context, run, newest, findings)
}

function findingAbout(shown: Statement | NewFinding | null, sequence: number, before: string | null): NewFinding {
  if (!shown) return { kind: 'statement_lost', detail: { sequence } }
  if ('kind' in shown) return shown
  const { digest, previous } = shown
  if (before === UNKNOWN_DIGEST || previous === before) return { kind: 'statement_new', detail: { sequence, digest } }
  return { kind: 'statement_rewritten', detail: { sequence: sequence - 1, before, after: previous } }
}

async function recordStatement(
  context: Context,
  run: Run,
  { sequence, digest }: Pick<Statement, 'sequence' | 'digest'>,
  findings: readonly NewFinding[],
): Promise<void> {
  const { delegation_id } = run
  await recordStep(context, run, async (tx) => {
    if ((await findStatement(tx, delegation_id, sequence))?.digest === digest) return { summary: {} }
    await putStatement(tx, { delegation_id, sequence, digest })
    return { findings, summary: {} }
  })
}
