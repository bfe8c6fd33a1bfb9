// What the gateway has signed about the locker: each statement names the one before, and none may go or change.

import { CanonicalJsonError } from '@svc/protocol/canonical'
import { isGatewayError, UntrueAnswer } from '@svc/sdk/errors'
import type { Context } from '../../context.ts'
import type { News } from '../findings/add-findings.ts'
import { plainText } from '../plain-text.ts'
import { noteStep, type Run, requireGround, type Summary } from '../runs/run.ts'
import { findLastStatement, findStatement, putStatement, type SeenStatement } from './watch-store.ts'

interface Shown {
  sequence: number
  digest: string
  /** Digest of the statement before, as this one names it. */
  previous: string | null
}

/** The rest waits for the next run. */
const MAX_STATEMENTS = 100
/** Stands for a statement that was made and could not be read. */
const UNKNOWN_DIGEST = ''

/** `last` is what the last run came to that got as far as this; null the first time. */
export async function watchStatements(context: Context, run: Run, last: Summary | null): Promise<void> {
  if ('statement' in run.summary) return
  const newest = await readStatement(context, run)
  const seen = await findLastStatement(context.database.db, run.delegation_id)
  const trouble = troubleWith(newest, seen)
  if (!trouble && newest) await follow(context, run, newest as Shown, seen, last === null)
  await noteStep(context, run, async () => {
    if ('statement' in run.summary) return { summary: {} }
    const words = trouble && `${trouble.kind} ${JSON.stringify(trouble.detail)}`
    const statement = newest && 'sequence' in newest ? newest.sequence : null
    return {
      news: [
        // One that goes on is told once.
        ...(trouble && words !== last?.statement_trouble ? [trouble] : []),
        ...(last === null ? [baseline(run, statement)] : []),
      ],
      summary: { statement, ...(words && { statement_trouble: words }) },
    }
  })
}

function baseline({ summary }: Run, statement: number | null): News {
  const { files = 0, total_bytes = 0 } = summary
  return { kind: 'baseline', detail: { files, total_bytes, statement } }
}

/** The newest, or the one asked for; null where there is none, and what is wrong where it cannot be believed. */
async function readStatement(context: Context, run: Run, sequence?: number): Promise<Shown | News | null> {
  const { locker, signal } = run
  try {
    const client = context.gateway.client()
    const which = sequence === undefined ? { signal } : { sequence, signal }
    const { attestation } = await client.verify(locker.receipt_id, which)
    if (!attestation?.envelope) return null
    const { body, statement_digest } = attestation.envelope
    if (sequence !== undefined && body.sequence !== sequence) throw new UntrueAnswer('the statement is another one')
    return { sequence: body.sequence, digest: statement_digest, previous: body.prev_statement_digest }
  } catch (error) {
    const of = sequence === undefined ? {} : { sequence }
    if (isGatewayError(error, 'statement_not_found')) return { kind: 'statement_lost', detail: of }
    const reason = untruthOf(error)
    if (reason === null) throw error
    return { kind: 'statement_untrue', detail: { ...of, reason } }
  }
}

/** Null where the trouble is another. An answer of a form that no statement has makes the checks themselves fail. */
function untruthOf(error: unknown): string | null {
  if (error instanceof UntrueAnswer) return plainText(error.message)
  const isMalformed = [TypeError, RangeError, CanonicalJsonError].some((type) => error instanceof type)
  return isMalformed ? 'what is shown has not the form of a statement' : null
}

function troubleWith(newest: Shown | News | null, seen: SeenStatement | null): News | null {
  if (newest && 'kind' in newest) return newest
  const shown = newest?.sequence ?? null
  if (!seen || (shown ?? 0) >= seen.sequence) return null
  return { kind: 'statement_lost', detail: { last_seen: seen.sequence, newest: shown } }
}

/** From the last one that was seen to the newest, one after the other: each must name the one before. */
async function follow(
  context: Context,
  run: Run,
  newest: Shown,
  seen: SeenStatement | null,
  isFirst: boolean,
): Promise<void> {
  if (!seen && isFirst) return noteStatement(context, run, newest, [])
  if (seen?.sequence === newest.sequence) return requireSame(context, run, newest, seen)
  const first = (seen?.sequence ?? 0) + 1
  let before = seen ? seen.digest : null
  for (let sequence = first; sequence <= newest.sequence && sequence < first + MAX_STATEMENTS; sequence++) {
    await requireGround(context, context.database.db, run)
    const shown = sequence === newest.sequence ? newest : await readStatement(context, run, sequence)
    const digest = shown && 'digest' in shown ? shown.digest : UNKNOWN_DIGEST
    await noteStatement(context, run, { sequence, digest }, [newsAbout(shown, sequence, before)])
    before = digest
  }
}

async function requireSame(context: Context, run: Run, newest: Shown, seen: SeenStatement): Promise<void> {
  const { sequence, digest } = newest
  if (digest === seen.digest) return
  const detail = { sequence, before: seen.digest, after: digest }
  const news: News[] = seen.digest === UNKNOWN_DIGEST ? [] : [{ kind: 'statement_rewritten', detail }]
  await noteStatement(context, run, newest, news)
}

function newsAbout(shown: Shown | News | null, sequence: number, before: string | null): News {
  if (!shown) return { kind: 'statement_lost', detail: { sequence } }
  if ('kind' in shown) return shown
  const { digest, previous } = shown
  if (before === UNKNOWN_DIGEST || previous === before) return { kind: 'statement_new', detail: { sequence, digest } }
  return { kind: 'statement_rewritten', detail: { sequence: sequence - 1, before, after: previous } }
}

async function noteStatement(
  context: Context,
  run: Run,
  { sequence, digest }: Pick<Shown, 'sequence' | 'digest'>,
  news: readonly News[],
): Promise<void> {
  const { delegation_id } = run
  await noteStep(context, run, async (tx) => {
    if ((await findStatement(tx, delegation_id, sequence))?.digest === digest) return { summary: {} }
    await putStatement(tx, { delegation_id, sequence, digest })
    return { news, summary: {} }
  })
}
