import { type ProvisionManifest, signedProvision } from '@svc/api/lockers'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { type Locker, lockerOf } from './locker.ts'

export interface ProvisionOptions {
  tags?: string[]
  /** Base58 of an Ed25519 key that may read, write and list from the start. */
  operator?: string
  signal?: AbortSignal | undefined
}

/** Opens the locker of a receipt, or finds it open. The client must sign with the key that paid. */
export async function provision(
  context: Context,
  receipt_id: string,
  { tags, operator, signal }: ProvisionOptions = {},
): Promise<Locker & { manifest: ProvisionManifest }> {
  const body = { receipt_id, ...(tags && { tags }), ...(operator && { operator_pubkey: operator }) }
  const { body: manifest } = await call(context, signedProvision, { body, signal })
  const locker = lockerOf(receipt_id)
  const { space, owner } = manifest
  if (manifest.receipt_id !== receipt_id || space.locker_id !== locker.locker_id)
    throw new UntrueAnswer(`the locker ${space.locker_id} does not follow from the receipt ${receipt_id}`)
  if (owner !== context.signer?.address) throw new UntrueAnswer(`the locker belongs to ${owner}, who did not pay`)
  return { ...locker, manifest }
}
