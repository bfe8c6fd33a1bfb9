import { PaymentError } from '@svc/sdk/errors'
import { durationText } from '../output/quantities.ts'
import type { Session } from '../session.ts'
import { type Buyer, beginPurchase, endPurchase } from './unfinished.ts'

function unpaid(cause: unknown): never {
  throw new PaymentError('not_moved', `the purchase cannot be noted: ${(cause as Error).message}`, { cause })
}

/** Under a new name, or that of the same order which is not finished yet. */
export async function payOnce<T>(
  { journal: openJournal, output, world }: Session,
  buyer: Buyer,
  order: string,
  pay: (intent: string) => Promise<T>,
): Promise<T> {
  const journal = await openJournal()
  const { intent, since, others } = await beginPurchase(journal, buyer, order, world.now()).catch(unpaid)
  for (const { order, begun_at } of others)
    output.warn(
      `an earlier purchase is not finished: ${order}, begun ${begun_at}. Order the same again to go on with it`,
    )
  if (since !== null)
    output.note(`Going on with the purchase begun ${durationText((world.now() - Date.parse(since)) / 1000)} ago.`)
  try {
    const bought = await pay(intent)
    await endPurchase(journal, buyer, intent)
    return bought
  } catch (error) {
    if (error instanceof PaymentError && error.money === 'not_moved') await endPurchase(journal, buyer, intent)
    throw error
  }
}
