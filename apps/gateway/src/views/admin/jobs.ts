// Lists jobs; retries and deletes dead ones.

import type { Query } from '@svc/api/endpoint'
import type { AdminJob, AdminJobDetails, adminJobs } from '@svc/api/operations'
import type { ListedJob } from '@svc/database/queue/queue'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import { findDone } from './audit-store.ts'

const PAGE = 100

export async function listJobs(
  { queue }: Context,
  { state = 'dead', kind = null, limit = PAGE, cursor }: JobsQuery,
): Promise<{ jobs: AdminJob[]; next_cursor?: string }> {
  const after = cursor === undefined ? null : positionIn(cursor)
  const found = await queue.list({ state, kind, after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return { jobs: page.map(jobFacts), ...(last && { next_cursor: toBase64Url(utf8(`${last.at} ${last.id}`)) }) }
}

type JobsQuery = Omit<Query<typeof adminJobs>, 'kind'> & { kind?: string | null }

function positionIn(cursor: string): { at: number; id: string } {
  const bytes = fromBase64Url(cursor)
  const [, at, id] = /^([0-9]{1,15}) ([\w-]{1,100})$/.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  if (at !== undefined && id !== undefined) return { at: Number(at), id }
  throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
}

export async function readJob({ queue }: Context, jobId: string): Promise<AdminJobDetails> {
  const job = await queue.find(jobId)
  if (!job) throw jobNotFound()
  return { ...jobFacts(job), key: job.key, payload: withoutSecrets(job.payload) as Record<string, unknown> }
}

function jobFacts({ id, kind, state, attempts, at, error }: ListedJob): AdminJob {
  const time = new Date(at).toISOString()
  return {
    job_id: id,
    kind,
    state,
    attempts,
    due_at: state === 'waiting' || state === 'delayed' ? time : null,
    failed_at: state === 'dead' ? time : null,
    error: error === null ? null : error.replaceAll(CREDENTIALS, '[removed]'),
  }
}

const SECRET_NAMES = /token|secret|password|passphrase|authorization|private|signature|seed|credential|api_?key/i
/** In a URL: user, password and signature. In a header: the token. */
const CREDENTIALS = /(?<=:\/\/)[^\s/@]+@|(?<=[?&][^=\s]*(?:sig|token|key|secret)[^=\s]*=)[^&\s]+|(?<=bearer\s+)\S+/gi

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(CREDENTIALS, '[removed]')
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, SECRET_NAMES.test(name) ? '[removed]' : withoutSecrets(inner)]),
  )
}

/** Replaces the dead job with a new one and adds the audit entry, or does neither. */
export async function retryJob(context: Context, actor: Actor, jobId: string, reason: string) {
  const { database, queue } = context
  return database.commit(async (tx) => {
    const retried = await queue.retryDeadIn(tx, jobId)
    if (!retried) return { ok: true, changed: false, job_id: await retriedBefore() } as const
    const act = { actor: actor.identity, action: 'retry_job', target: jobId, reason } as const
    await appendAudit(context, tx, { ...act, details: { new_job_id: retried.id } })
    return { ok: true, changed: true, job_id: retried.id } as const

    async function retriedBefore(): Promise<string | null> {
      const done = await findDone(tx, 'retry_job', jobId)
      if (!done) throw jobNotFound()
      return (JSON.parse(done.details) as { new_job_id: string | null }).new_job_id
    }
  })
}

export async function deleteJob(context: Context, actor: Actor, jobId: string, reason: string) {
  const { database, queue } = context
  const job = await queue.find(jobId)
  return database.commit(async (tx) => {
    if (!(await queue.deleteDeadIn(tx, jobId))) {
      if (await findDone(tx, 'delete_job', jobId)) return { ok: true, changed: false } as const
      throw jobNotFound()
    }
    const details = job ? { kind: job.kind, payload: withoutSecrets(job.payload) } : {}
    await appendAudit(context, tx, { actor: actor.identity, action: 'delete_job', target: jobId, reason, details })
    return { ok: true, changed: true } as const
  })
}

function jobNotFound(): ServiceError {
  return new ServiceError('job_not_found', 'there is no such job', {
    hint: 'finished jobs are deleted; only dead jobs can be retried or deleted',
  })
}
