import { ServiceError } from '@svc/http-service/service-error'
import { unixNow } from '../context.ts'
import type { X402Context } from './room.ts'
import { resumeSettlement } from './settle.ts'
import { findOpenSettlements } from './store.ts'

/** How long after the end of its quote a payment is still looked for. */
const RESUME_SECONDS = 7 * 86_400
const AT_ONCE = 50

/** Completes the settlements of buyers who did not come back: a buyer who was charged gets a receipt. */
export async function resumeSettlements(context: X402Context): Promise<void> {
  const now = unixNow(context)
  const expired = { after: now - RESUME_SECONDS, before: now }
  const requests = await findOpenSettlements(context.database.db, expired, AT_ONCE)
  await Promise.all(
    requests.map(async (request) => {
      try {
        await resumeSettlement(context, request)
      } catch (error) {
        // It is still pending, or was refused: its buyer would get the same answer.
        if (!(error instanceof ServiceError)) throw error
      }
    }),
  )
}
