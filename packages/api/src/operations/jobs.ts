import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { ACT_ERRORS, acting, BASE, Changed, Count, Reason, reading } from './admin-endpoint.ts'

const JobState = Words(['waiting', 'delayed', 'running', 'dead'])

const JobFacts = {
  job_id: Type.String(),
  kind: Type.String(),
  state: JobState,
  attempts: Count('Runs started.'),
  due_at: OrNull(Timestamp('When the job runs next. Null for jobs that are running or dead.')),
  failed_at: OrNull(Timestamp('When a dead job failed.')),
  error: OrNull(Type.String({ description: 'Why the last run of a dead job failed.' })),
}

export const AdminJob = Type.Object(JobFacts, { title: 'AdminJob' })
export type AdminJob = Static<typeof AdminJob>

export const AdminJobDetails = Type.Object(
  {
    ...JobFacts,
    key: OrNull(Type.String({ description: 'While a job of this kind and key is waiting, no other is added.' })),
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'The input of the job, without secrets.' }),
  },
  { title: 'AdminJobDetails' },
)
export type AdminJobDetails = Static<typeof AdminJobDetails>

export const adminJobs = endpoint({
  ...reading,
  name: 'adminJobs',
  path: `${BASE}/jobs`,
  summary: 'List the jobs in one state: dead jobs newest first, other jobs next due first',
  query: Type.Object({
    state: Type.Optional(Type.Enum(['waiting', 'delayed', 'running', 'dead'], { default: 'dead' })),
    kind: Type.Optional(Type.String({ maxLength: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({ jobs: Type.Array(AdminJob), next_cursor: Type.Optional(Type.String()) }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

const JobPath = Type.Object({ job_id: Type.String({ maxLength: 100 }) })

export const adminJob = endpoint({
  ...reading,
  name: 'adminJob',
  path: `${BASE}/jobs/{job_id}`,
  summary: 'One job with its input, and why it failed',
  params: JobPath,
  responses: { 200: AdminJobDetails },
  errors: ['INTERNAL_AUTH_REQUIRED', 'job_not_found', 'validation_error'],
})

export const retryJob = endpoint({
  ...acting,
  name: 'retryJob',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/jobs/{job_id}/retry`,
  summary: 'Enqueue a dead job again; a repeated call does it only once',
  params: JobPath,
  body: Type.Object({ reason: Reason }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      changed: Changed,
      job_id: OrNull(
        Type.String({ description: 'The id of the new job. Null if an identical job is already waiting.' }),
      ),
    }),
  },
  errors: [...ACT_ERRORS, 'job_not_found'],
})

export const deleteJob = endpoint({
  ...acting,
  name: 'deleteJob',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/jobs/{job_id}/delete`,
  summary: 'Delete a dead job, abandoning its work',
  params: JobPath,
  body: Type.Object({ reason: Reason }),
  responses: { 200: Type.Object({ ok: Type.Literal(true), changed: Changed }) },
  errors: [...ACT_ERRORS, 'job_not_found'],
})
