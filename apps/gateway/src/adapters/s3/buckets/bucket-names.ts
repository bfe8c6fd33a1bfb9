// The bucket names of a wallet's lockers. A locker's name is used when it is a valid bucket name and no other locker of
// the wallet has it; otherwise the locker's id, which always works. Only lockers that the wallet owns count, so that
// nobody else can claim a name.

import { lockerName, NAME_TAG } from '@svc/api/locker-names'
import type { Db, Locker } from '../../../db/schema.ts'
import { lockersTagged } from '../../../lockers/store.ts'

const LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
const NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`)
const IP_ADDRESS = /^\d+\.\d+\.\d+\.\d+$/

/** The rules that S3 clients enforce. A locker id does not meet them. */
export function isBucketName(name: string): boolean {
  return name.length >= 3 && name.length <= 63 && NAME.test(name) && !IP_ADDRESS.test(name)
}

/** `lockers`: all lockers of the wallet. */
export function bucketNames(lockers: readonly Locker[]): (locker: Locker) => string {
  const named = Map.groupBy(lockers, nameOf)
  return (locker) => {
    const name = nameOf(locker)
    return name !== null && named.get(name)?.length === 1 ? name : locker.locker_id
  }
}

/** Null when no locker or several lockers of the wallet have the name. */
export async function findNamed(db: Db, wallet: string, name: string): Promise<Locker | null> {
  if (!isBucketName(name)) return null
  const found = (await lockersTagged(db, wallet, NAME_TAG + name)).filter((locker) => nameOf(locker) === name)
  return found.length === 1 ? (found[0] as Locker) : null
}

function nameOf({ tags }: Locker): string | null {
  const name = lockerName(JSON.parse(tags))
  return name !== null && isBucketName(name) ? name : null
}
