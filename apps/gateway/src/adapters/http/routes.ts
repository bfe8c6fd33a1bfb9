import * as transfers from '@svc/api/transfers'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../../context.ts'
import { removeFile } from '../../files/delete-file.ts'
import { AccessEnded } from '../../lockers/access.ts'
import { invalidToken } from './open-token.ts'
import { readByToken, readPublicly } from './read-file.ts'
import { uploadSessionRoutes } from './sessions/routes.ts'
import { shareRoutes } from './shares/routes.ts'
import { writeByToken } from './write-file.ts'

export function httpRoutes(service: Service, context: Context): void {
  const { auth } = context
  serve(service, transfers.readByToken, async ({ params, wire }) =>
    readByToken(context, await context.openToken(params.token, wire.method), wire),
  )
  serve(service, transfers.writeByToken, async ({ params, query, wire }) =>
    writeByToken(context, await context.openToken(params.token, wire.method), wire, query),
  )
  serve(service, transfers.deleteByToken, async ({ params, wire }) => {
    const { locker, file, grant } = await context.openToken(params.token, wire.method)
    return removeFile(context, locker, file.filename, { grant }).catch((error: unknown) => {
      throw error instanceof AccessEnded ? invalidToken() : error
    })
  })
  serve(service, transfers.readPublicly, ({ params, wire }) => readPublicly(context, params, wire))
  shareRoutes(service, auth, context)
  uploadSessionRoutes(service, auth, context)
}
