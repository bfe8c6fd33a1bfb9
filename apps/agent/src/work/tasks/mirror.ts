import type { Mirror } from '@svc/api/agent/tasks'
import type { FetchedFile } from '@svc/api/files'
import { bare } from '@svc/protocol/bytes'
import type { JobRun } from '@svc/queue/queue'
import { GatewayError } from '@svc/sdk/errors'
import { type Context, unixNow } from '../../context.ts'
import type { News } from '../findings/add-findings.ts'
import { plainText } from '../plain-text.ts'
import { counted, noteStep, type Outcome, type Run, requireGround } from '../runs/run.ts'
import { runTask } from '../runs/run-task.ts'
import { isAway } from './gateway-errors.ts'
import { findMirrors, forgetMirrors, type MirrorRow, putMirror } from './watch-store.ts'

type Source = Mirror['sources'][number]

/** Has the gateway fetch each address into the locker; one that this run has asked for already is not asked for again. */
export async function mirror(context: Context, delegationId: string, job: JobRun): Promise<void> {
  await runTask(context, 'mirror', delegationId, job, async (run) => {
    const { db } = context.database
    const sources = (await requireGround(context, db, run)).mirror?.sources ?? []
    const known = await findMirrors(db, delegationId)
    for (const source of sources) {
      const before = known.get(source.filename)
      if (before?.run_id === run.run_id && before.url === source.url) continue
      const wanted = (await requireGround(context, db, run)).mirror?.sources ?? []
      if (wanted.some((other) => isSame(other, source))) await fetchSource(context, run, source)
    }
    await forgetMirrors(db, run)
  })
}

function isSame(a: Source, b: Source): boolean {
  return a.filename === b.filename && a.url === b.url
}

async function fetchSource(context: Context, run: Run, source: Source): Promise<void> {
  const { client, locker, signal } = run
  const { filename, url } = source
  try {
    const fetched = await client.fetchInto(locker, filename, url, { signal })
    await noteSource(context, run, source, (before) => fetchedOutcome(context, run, source, fetched, before))
  } catch (error) {
    const trouble = troubleOf(error) ?? (await lastingTrouble(run, error))
    if (trouble === null) throw error
    await noteSource(context, run, source, (before) => troubleOutcome(run, source, trouble, before))
  }
}

type Seen = Pick<MirrorRow, 'sha256' | 'fetched_at' | 'trouble'>

/** What is known of the same name from another address counts for nothing. */
async function noteSource(
  context: Context,
  run: Run,
  { filename, url }: Source,
  judge: (before: Seen) => Outcome & { seen: Seen },
): Promise<void> {
  await noteStep(context, run, async (tx) => {
    const { delegation_id, run_id } = run
    const known = (await findMirrors(tx, delegation_id)).get(filename)
    const before = known?.url === url ? known : { sha256: null, fetched_at: null, trouble: null }
    const { seen, ...outcome } = judge(before)
    await putMirror(tx, { ...seen, delegation_id, filename, url, run_id })
    return outcome
  })
}

function fetchedOutcome(
  context: Context,
  run: Run,
  { filename, url }: Source,
  { content_hash, size_bytes }: FetchedFile,
  { sha256 }: Seen,
): Outcome & { seen: Seen } {
  const after = bare(content_hash)
  const changed: News = { kind: 'mirror_changed', detail: { filename, url, before: sha256, after, size_bytes } }
  const isChanged = sha256 !== null && sha256 !== after
  return {
    news: isChanged ? [changed] : [],
    summary: { ...counted(run, 'fetched', 1), ...counted(run, 'changed', Number(isChanged)) },
    seen: { sha256: after, fetched_at: unixNow(context), trouble: null },
  }
}

/** One finding, however long it goes on, until the address was fetched again. */
function troubleOutcome(run: Run, { filename, url }: Source, reason: string, before: Seen): Outcome & { seen: Seen } {
  const failed: News = { kind: 'mirror_failed', detail: { filename, url, reason } }
  return {
    news: before.trouble === null ? [failed] : [],
    summary: counted(run, 'failed', 1),
    seen: { ...before, trouble: reason },
  }
}

const NOT_OF_THE_SOURCE = [401, 403, 404, 408, 429]

/** Why the gateway will not fetch this; null where the trouble is another. */
function troubleOf(error: unknown): string | null {
  if (!(error instanceof GatewayError)) return null
  if (error.status < 400 || error.status >= 500 || NOT_OF_THE_SOURCE.includes(error.status)) return null
  return plainText(error.inputs[0]?.msg ?? error.message)
}

/** So long it is waited for a gateway that fails, some minutes; then the other addresses must not wait any longer. */
const PATIENT_ATTEMPTS = 5

/** Where the gateway fails at one address and is there for all else, it is the address that cannot be fetched. */
async function lastingTrouble({ attempt, client, locker }: Run, error: unknown): Promise<string | null> {
  if (attempt <= PATIENT_ATTEMPTS || !isAway(error)) return null
  await client.metadata(locker)
  return 'the gateway cannot fetch it'
}
