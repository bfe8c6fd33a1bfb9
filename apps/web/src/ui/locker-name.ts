import type { LockerMetadata } from '@svc/api/lockers'
import { lockerName } from '@svc/sdk/locker-names'
import { printable } from '@svc/verifier/untrusted'

/** The name that the owner chose, from the tags; null if there is none. */
export function nameOf({ tags }: Pick<LockerMetadata, 'tags'>): string | null {
  const name = lockerName(tags)
  return name && printable(name, 100)
}
