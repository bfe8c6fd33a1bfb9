import type { Context } from '../context.ts'
import type { PurchasesContext } from '../purchases/room.ts'
import { openSettlers, type Settlers } from './settlers.ts'

type Needs = Pick<PurchasesContext, 'storePayRequest'>

export interface X402Context extends Context, Needs {
  /** Send payments that others have signed; none where no key is configured. */
  settlers: Settlers
}

export async function createX402(
  context: Context,
  { storePayRequest }: Needs,
  secrets: Parameters<typeof openSettlers>[0],
): Promise<X402Context> {
  return { ...context, storePayRequest, settlers: await openSettlers(secrets) }
}
