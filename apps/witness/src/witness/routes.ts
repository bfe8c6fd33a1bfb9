import * as api from '@svc/api/witness'
import { Answer } from '@svc/service/http/answer'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import { addCheckpoint, type Outcome } from './add-checkpoint.ts'
import { findCosignedNote } from './store.ts'
import { witnessPage } from './witness-page.ts'

export function witnessRoutes(service: Service, context: Context): void {
  serve(service, api.addCheckpoint, async ({ wire }) => answerOf(await addCheckpoint(context, wire.body)))
  serve(service, api.cosignedCheckpoint, ({ params }) => cosignedCheckpoint(context, params.origin_hash))
  serve(service, api.witnessPage, () => witnessPage(context))
}

const SIZE_TYPE = { 'content-type': 'text/x.tlog.size' }

function answerOf(outcome: Outcome): Answer<string> {
  if ('cosignatures' in outcome) return new Answer(200, outcome.cosignatures)
  if ('size' in outcome) return new Answer(409, `${outcome.size}\n`, SIZE_TYPE)
  return new Answer(outcome.status, `${outcome.problem}\n`)
}

async function cosignedCheckpoint({ database }: Context, originHash: string): Promise<string> {
  const note = await findCosignedNote(database.db, originHash)
  if (note !== null) return note
  throw new ServiceError('not_found', 'this witness has not cosigned a checkpoint of that log', {
    hint: 'the path must contain the SHA-256 of the origin in lower case; / lists the known logs',
  })
}
