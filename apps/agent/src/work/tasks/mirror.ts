import type { Mirror } from '@svc/api/agent/tasks'
import type { FetchedFile } from '@svc/api/files'
import { bare } from '@svc/protocol/bytes'
import { GatewayError } from '@svc/sdk/errors'
import { type Context, unixNow } from '../../context.ts'
import type { NewFinding } from '../findings/add-findings.ts'
import { counted, type Run, recordStep, requireCurrentTasks, type StepResult } from '../runs/run.ts'
import { isUnavailable, storableText } from './gateway-errors.ts'
import { deleteOtherMirrors, findMirrors, type MirrorRow, putMirror } from './mirror-store.ts'

type Source = Mirror['sources'][number]

/**
 * Makes the gateway fetch each source into the locker. A continued run skips the sources that it has already fetched.
 */
export async function mirrorSources(context: Context, run: Run): Promise<void> {
  const { db, commit } = context.database
  const sources = (await requireCurrentTasks(context, db, run)).mirror?.sources ?? []
  const known = await findMirrors(db, run.delegation_id)
  for (const source of sources) {
    const before = known.get(source.filename)
    if (before?.run_id === run.run_id && before.url === source.url) continue
    const wanted = (await requireCurrentTasks(context, db, run)).mirror?.sources ?? []
    if (wanted.some((other) => isSame(other, source))) await fetchSource(context, run, source)
  }
  await commit((tx) => deleteOtherMirrors(tx, run))
}

function isSame(a: Source, b: Source): boolean {
  return a.filename === b.filename && a.url === b.url
}

async function fetchSource(context: Context, run: Run, source: Source): Promise<void> {
  const { client, locker, signal } = run
  const { filename, url } = source
  try {
    const fetched = await client.fetchInto(locker, filename, url, { signal })
    await recordSource(context, run, source, (before) => fetchedResult(context, run, source, fetched, before))
  } catch (error) {
    const problem = sourceProblem(error) ?? (await lastingProblem(run, error))
    if (problem === null) throw error
    await recordSource(context, run, source, (before) => failedResult(run, source, problem, before))
  }
}

type MirrorState = Pick<MirrorRow, 'sha256' | 'fetched_at' | 'trouble'>
type SourceResult = StepResult & { state: MirrorState }

/** The state of the same filename with another URL is ignored. */
async function recordSource(
  context: Context,
  run: Run,
  { filename, url }: Source,
  resultAfter: (before: MirrorState) => SourceResult,
): Promise<void> {
  await recordStep(context, run, async (tx) => {
    const { delegation_id, run_id } = run
    const known = (await findMirrors(tx, delegation_id)).get(filename)
    const before = known?.url === url ? known : { sha256: null, fetched_at: null, trouble: null }
    const { state, ...result } = resultAfter(before)
    await putMirror(tx, { ...state, delegation_id, filename, url, run_id })
    return result
  })
}

function fetchedResult(
  context: Context,
  run: Run,
  { filename, url }: Source,
  { content_hash, size_bytes }: FetchedFile,
  { sha256 }: MirrorState,
): SourceResult {
  const after = bare(content_hash)
  const changed: NewFinding = { kind: 'mirror_changed', detail: { filename, url, before: sha256, after, size_bytes } }
  const isChanged = sha256 !== null && sha256 !== after
  return {
    findings: isChanged ? [changed] : [],
    summary: { ...counted(run, 'fetched', 1), ...counted(run, 'changed', Number(isChanged)) },
    state: { sha256: after, fetched_at: unixNow(context), trouble: null },
  }
}

/** Reports a problem once, until the source is fetched again. */
function failedResult(run: Run, { filename, url }: Source, reason: string, before: MirrorState): SourceResult {
  const failed: NewFinding = { kind: 'mirror_failed', detail: { filename, url, reason } }
  return {
    findings: before.trouble === null ? [failed] : [],
    summary: counted(run, 'failed', 1),
    state: { ...before, trouble: reason },
  }
}

/** Statuses that concern the request, the key or the locker rather than the source. */
const NOT_ABOUT_SOURCE = [401, 403, 404, 408, 429]

/** Why the gateway refuses to fetch the source; null for any other error. */
function sourceProblem(error: unknown): string | null {
  if (!(error instanceof GatewayError)) return null
  if (error.status < 400 || error.status >= 500 || NOT_ABOUT_SOURCE.includes(error.status)) return null
  return storableText(error.inputs[0]?.msg ?? error.message)
}

/**
 * How many attempts, some minutes, wait for a gateway that fails for a source. After that, the other sources must not
 * wait longer.
 */
const WAITING_ATTEMPTS = 5

/** When the gateway fails for one source but otherwise responds, the source cannot be fetched. */
async function lastingProblem({ attempt, client, locker }: Run, error: unknown): Promise<string | null> {
  if (attempt <= WAITING_ATTEMPTS || !isUnavailable(error)) return null
  await client.metadata(locker)
  return 'the gateway cannot fetch it'
}
