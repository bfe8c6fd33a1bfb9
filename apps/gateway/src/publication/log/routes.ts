import * as api from '@svc/api/log'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { ServiceError } from '@svc/service/service-error'
import { ProviderError } from '@svc/storage/provider'
import type { Context } from '../../context.ts'
import { answerCheckpoint, answerTile } from './answer-files.ts'
import { proveStatement } from './prove-statement.ts'
import { listEntries, showLog } from './show-log.ts'

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

function statementNotInLog(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no such statement', {
    hint: 'a new statement appears in the log after a few seconds; records of the oracle era are not in the log',
  })
}

/** Error details of the log's bucket or disk are for the admin only. */
function throwUnavailable(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  throw new ServiceError('STORAGE_UNAVAILABLE', 'the log cannot be read at the moment', {
    hint: 'try again in a moment',
    headers: { 'retry-after': '5' },
    cause: error,
  })
}
