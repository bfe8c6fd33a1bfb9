import * as api from '@svc/api/log'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../../context.ts'
import { answerCheckpoint, answerTile } from './answer-files.ts'
import { statementNotInLog, throwUnavailable } from './errors.ts'
import { listEntries } from './list-entries.ts'
import { proveStatement } from './prove-statement.ts'
import { showLog } from './show-log.ts'

export function logRoutes(service: Service, context: Context): void {
  serve(service, api.logState, () => showLog(context).catch(throwUnavailable))
  serve(service, api.logCheckpoint, ({ wire }) => answerCheckpoint(context, wire).catch(throwUnavailable))
  serve(service, api.logTile, ({ params, wire }) => answerTile(context, params.path, wire).catch(throwUnavailable))
  serve(service, api.logStatements, ({ query }) => listEntries(context, query).catch(throwUnavailable))
  serve(service, api.logProof, async ({ query }) => {
    const logged = await proveStatement(context, query.statement_digest).catch(throwUnavailable)
    if (!logged) throw statementNotInLog()
    return logged.proof
  })
}
