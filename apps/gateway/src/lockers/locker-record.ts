import type { LockerRecord } from '@svc/api/lockers'
import type { Provider } from '@svc/api/purchases'
import { networkNamed } from '@svc/payments/networks'
import type { Locker } from '../db/schema.ts'

/** What only other rooms know is added where it is asked for. */
export function lockerRecord(locker: Locker): LockerRecord {
  const { locker_id, receipt_id, owner, network, provider, created_at, expires_at } = locker
  const sig_alg = networkNamed(network)?.sigAlg
  if (!sig_alg) throw new Error(`locker ${locker_id} is of the network ${network}`)
  return {
    locker_id,
    receipt_id,
    owner,
    operators: JSON.parse(locker.operators),
    tags: JSON.parse(locker.tags),
    provider: provider as Provider, // as the quote had it
    network,
    sig_alg,
    terms: JSON.parse(locker.terms),
    created_at,
    expires_at,
    file_count: locker.file_count,
    total_bytes: locker.total_bytes,
    space: { locker_id, file_api: fileApi(locker_id) },
  }
}

/** Paths under the base URL (LOCK-03). */
function fileApi(lockerId: string) {
  const files = `/v1/lockers/${lockerId}/files`
  const file = `${files}/{filename}`
  return { create: files, list: files, get: file, delete: file }
}
