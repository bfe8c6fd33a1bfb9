import * as api from '@svc/api/log'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { answerCheckpoint, answerTile } from './answer-files.ts'
import { statementNotInLog } from './errors.ts'
import { listEntries } from './list-entries.ts'
import type { LogContext } from './room.ts'
import { showLog } from './show-log.ts'

export function logRoutes(service: Service, context: LogContext): void {
  serve(service, api.logState, () => showLog(context))
  serve(service, api.logCheckpoint, ({ wire }) => answerCheckpoint(context, wire))
  serve(service, api.logTile, ({ params, wire }) => answerTile(context, params.path, wire))
  serve(service, api.logStatements, ({ query }) => listEntries(context, query))
  serve(service, api.logProof, async ({ query }) => {
    const logged = await context.transparencyLog.proof(query.statement_digest)
    if (!logged) throw statementNotInLog()
    return logged.proof
  })
}
