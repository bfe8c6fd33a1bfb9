import { lockerId } from '@svc/protocol/ids'
import { UsageError } from '../failures.ts'
import { isReceiptId, type KnownLocker } from './known-lockers.ts'

export type NamedLocker = Pick<KnownLocker, 'receipt_id' | 'locker_id' | 'owner' | 'name'>

/** The locker that a user means by a receipt, a locker id, a name, or nothing where there is only one. */
export function findLocker(known: readonly KnownLocker[], gateway: string, wanted: string | null): NamedLocker {
  const here = known.filter((locker) => locker.gateway === gateway)
  if (wanted === null) return theOnlyOne(here, gateway)
  const found = here.filter(({ receipt_id, locker_id, name }) => [receipt_id, locker_id, name].includes(wanted))
  if (found.length > 1) throw new UsageError(`several lockers are called ${wanted}`, `give one of: ${idsOf(found)}`)
  if (found[0]) return found[0]
  if (isReceiptId(wanted)) return { receipt_id: wanted, locker_id: lockerId(wanted), owner: null, name: null }
  throw new UsageError(
    `no locker ${JSON.stringify(wanted)} is known at ${gateway}`,
    here.length > 0 ? `known are: ${idsOf(here)}` : 'give its receipt id (rcpt_…); `svc lockers add` remembers it',
  )
}

function theOnlyOne(here: readonly KnownLocker[], gateway: string): NamedLocker {
  const [first, ...others] = here
  if (!first) throw new UsageError(`no locker is known at ${gateway}`, '`svc buy` buys one; --locker names one')
  if (others.length === 0) return first
  throw new UsageError(`which locker? ${here.length} are known at ${gateway}`, `--locker takes one of: ${idsOf(here)}`)
}

function idsOf(lockers: readonly KnownLocker[]): string {
  return lockers.map(({ name, locker_id }) => name ?? locker_id).join(', ')
}
