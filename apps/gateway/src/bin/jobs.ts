// `svc-gateway jobs list [--state dead] | show <id> | retry <id> --reason … | delete <id> --reason …`

import { parseArgs } from 'node:util'
import type { AdminJob } from '@svc/api/operations'
import { deleteJob, listJobs, readJob, retryJob } from '../views/admin/jobs.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

export const USAGE =
  'usage: svc-gateway jobs list [--state waiting|delayed|running|dead] | show <id> | retry <id> --reason <why> | delete <id> --reason <why>'

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: { state: { type: 'string', default: 'dead' }, reason: { type: 'string' } },
      allowPositionals: true,
    })
    const [verb = 'list', id] = positionals
    if (verb === 'list') return printJobs((await listJobs(context, { state: stateOf(values.state) })).jobs)
    if (id === undefined) throw new Error(USAGE)
    if (verb === 'show') return printJson(await readJob(context, id))
    if (verb === 'retry') return printJson(await retryJob(context, actor, id, requireReason(values.reason)))
    if (verb === 'delete') return printJson(await deleteJob(context, actor, id, requireReason(values.reason)))
    throw new Error(USAGE)
  })
}

const STATES = ['waiting', 'delayed', 'running', 'dead'] as const

function stateOf(text: string): AdminJob['state'] {
  const state = STATES.find((candidate) => candidate === text)
  if (!state) throw new Error(USAGE)
  return state
}

/** The newest 100 dead jobs, or the next 100 that are due. */
function printJobs(jobs: readonly AdminJob[]): void {
  if (jobs.length === 0) console.log('No jobs in this state.')
  for (const { job_id, kind, attempts, due_at, failed_at, error } of jobs) {
    console.log([job_id, kind, `${attempts} runs`, failed_at ?? due_at ?? '', error ?? ''].join('  ').trimEnd())
  }
}
