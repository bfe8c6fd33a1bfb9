// Ends a way into a locker, by the request that the list of them names. The owner signs only requests that this page
// knows, so that no answer of a gateway can have another one signed.

import type { AccessEntry } from '@svc/api/access'
import type { Client } from '@svc/sdk'
import type { LockerSession } from '../session.ts'

export type Ending = 'share' | 'operator' | 's3_key' | 'wallet_s3_key' | 'public_link' | 'everything'

/** Null if the entry has ended, or names a request that this page does not know. */
export function endingOf(locker_id: string, { id, end }: Pick<AccessEntry, 'id' | 'end'>): Ending | null {
  if (!end) return null
  const base = `/v1/lockers/${locker_id}`
  const [path = ''] = end.path.split('?')
  const known: Record<string, Ending> = {
    [`POST ${base}/revoke`]: 'everything',
    ...(end.body?.action === 'close' && { [`POST ${base}/public-link`]: 'public_link' }),
    ...(id !== null && {
      [`DELETE ${base}/shares/${id}`]: 'share',
      [`DELETE ${base}/operators/${id}`]: 'operator',
      [`DELETE ${base}/s3/keys/${id}`]: 's3_key',
      [`DELETE /v1/s3/keys/${id}`]: 'wallet_s3_key',
    }),
  }
  return known[`${end.method} ${path}`] ?? null
}

type Session = Pick<LockerSession, 'locker' | 'facts'>

export async function endAccess(
  owner: Client,
  { locker, facts }: Session,
  ending: Ending,
  id: string | null,
): Promise<void> {
  switch (ending) {
    case 'everything':
      return owner.revokeAccess(locker)
    case 'public_link': {
      const public_link = await owner.changePublicLink(locker, 'close')
      facts.value = { ...facts.value, public_link }
      return
    }
    case 'share':
      return endShare(owner, locker.locker_id, id as string) // entries of this and the next kinds have an id
    case 'operator': {
      await owner.removeOperator(locker, id as string)
      const operators = facts.value.operators.filter((operator) => operator !== id)
      facts.value = { ...facts.value, operators }
      return
    }
    case 's3_key':
      return owner.revokeS3Key(locker, id as string)
    case 'wallet_s3_key':
      return owner.revokeWalletS3Key(id as string)
  }
}

async function endShare(owner: Client, locker_id: string, share_id: string): Promise<void> {
  const [{ endShare: endpoint }, { isGatewayError }] = await Promise.all([
    import('@svc/api/shares'),
    import('@svc/sdk/errors'),
  ])
  await owner.call(endpoint, { params: { locker_id, share_id } }).catch((error: unknown) => {
    // It has expired, or someone else has ended it.
    if (!isGatewayError(error, 'SHARE_NOT_FOUND')) throw error
  })
}
