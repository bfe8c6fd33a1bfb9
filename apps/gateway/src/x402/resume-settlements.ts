import { ServiceError } from '@svc/http-service/service-error'
import { unixNow } from '../context.ts'
import type { X402Context } from './room.ts'
import { resumeSettlement } from './settle.ts'
import { findOpenSettlements } from './store.ts'

/** For so long after the end of its quote a payment is still looked for. */
const LOOKED_FOR_SECONDS = 7 * 86_400
const AT_ONCE = 50

/** Brings to their end the settlements whose buyers did not come back: who was charged has his receipt. */
export async function resumeSettlements(context: X402Context): Promise<void> {
  const now = unixNow(context)
  const expired = { after: now - LOOKED_FOR_SECONDS, before: now }
  const requests = await findOpenSettlements(context.database.db, expired, AT_ONCE)
  await Promise.all(
    requests.map(async (request) => {
      try {
        await resumeSettlement(context, request)
      } catch (error) {
        // Still on its way, or no good: nothing else could be done for its buyer either.
        if (!(error instanceof ServiceError)) throw error
      }
    }),
  )
}
