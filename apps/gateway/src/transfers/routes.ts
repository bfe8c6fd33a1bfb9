import * as transfers from '@svc/api/transfers'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { deleteByToken } from './delete-by-token.ts'
import { tokenOpener } from './open-token.ts'
import { readByToken } from './read-by-token.ts'
import { readPublicly } from './read-publicly.ts'
import { writeByToken } from './write-by-token.ts'

export function transferRoutes(service: Service, context: Context): void {
  const open = tokenOpener(context)
  serve(service, transfers.readByToken, async ({ params, wire }) =>
    readByToken(context, await open(params.token, wire.method), wire),
  )
  serve(service, transfers.writeByToken, async ({ params, query, wire }) =>
    writeByToken(context, await open(params.token, wire.method), wire, query),
  )
  serve(service, transfers.deleteByToken, async ({ params, wire }) =>
    deleteByToken(context, await open(params.token, wire.method)),
  )
  serve(service, transfers.readPublicly, ({ params, wire }) => readPublicly(context, params, wire))
}
