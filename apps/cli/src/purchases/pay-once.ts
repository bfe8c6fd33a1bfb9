import { type Buyer, beginPurchase, endPurchase } from '@svc/sdk'
import { PaymentError } from '@svc/sdk/errors'
import { durationText } from '../output/quantities.ts'
import type { Session } from '../session.ts'

function unpaid(cause: unknown): never {
  throw new PaymentError('not_moved', `the purchase cannot be recorded: ${(cause as Error).message}`, { cause })
}

/** Pays under a new intent, or resumes the unfinished purchase of the same order. */
export async function payOnce<T>(
  { journal: openJournal, output, host }: Session,
  buyer: Buyer,
  order: string,
  pay: (intent: string) => Promise<T>,
): Promise<T> {
  const journal = await openJournal()
  const { intent, since, others } = await beginPurchase(journal, buyer, order, host.now()).catch(unpaid)
  for (const { order, begun_at } of others)
    output.warn(
      `an earlier purchase is not finished: ${order}, started ${begun_at}. Repeat the same order to resume it`,
    )
  if (since !== null)
    output.note(`Resuming the purchase started ${durationText((host.now() - Date.parse(since)) / 1000)} ago.`)
  try {
    const bought = await pay(intent)
    await endPurchase(journal, buyer, intent)
    return bought
  } catch (error) {
    if (error instanceof PaymentError && error.money === 'not_moved') await endPurchase(journal, buyer, intent)
    throw error
  }
}
