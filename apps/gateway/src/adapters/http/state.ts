import type { Context } from '../../context.ts'
import { createUseRecorder, type RecordUse } from '../last-use.ts'
import { createEgress, type Egress } from './egress.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'
import { createShareIds, type ShareIds } from './shares/share-ids.ts'
import { recordLastUse } from './shares/store.ts'

interface HttpState {
  openToken: OpenToken
  egress: Egress
  shareIds: ShareIds
  recordShareUse: RecordUse
}

declare module '../../context.ts' {
  interface Context extends HttpState {}
}

export function openHttp(context: Context): HttpState {
  return {
    egress: createEgress(context),
    openToken: createTokenOpener(context),
    shareIds: createShareIds(context.signers.shortUrl),
    recordShareUse: createUseRecorder(context, 'a share', recordLastUse),
  }
}
