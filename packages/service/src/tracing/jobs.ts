// Traces of a service's jobs: each continues the trace of the request that enqueued it.

import type { JobTraces } from '@svc/database/queue/traced-jobs'
import { activeTraceparent, inActiveSpan } from './active-span.ts'
import type { Tracer } from './tracer.ts'

export function jobTraces(tracer: Tracer): JobTraces {
  return {
    active: activeTraceparent,

    /** The span includes the job's effect and the jobs that it adds. */
    run({ kind, run, traceparent }, work) {
      const attributes = { 'messaging.operation.name': kind, 'svc.attempt': run.attempt }
      return tracer.resume({ name: `job ${kind}`, kind: 'consumer', attributes }, traceparent, async () =>
        inActiveSpan(await work()),
      )
    },
  }
}
