// What the lockers of a wallet are called as buckets: by their names where a bucket can have such a name and no other locker
// of the wallet has it, else by their ids, which always work. Only what the wallet owns is looked at, so nobody else can
// put a locker under a name.

import { lockerName, NAME_TAG } from '@svc/api/locker-names'
import type { Db, Locker } from '../../../db/schema.ts'
import { lockersTagged } from '../../../lockers/store.ts'

const LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
const NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`)
const IP_ADDRESS = /^\d+\.\d+\.\d+\.\d+$/

/** As clients of S3 check it. The id of a locker is none. */
export function isBucketName(name: string): boolean {
  return name.length >= 3 && name.length <= 63 && NAME.test(name) && !IP_ADDRESS.test(name)
}

/** `lockers`: all that the wallet owns. */
export function bucketNames(lockers: readonly Locker[]): (locker: Locker) => string {
  const named = Map.groupBy(lockers, nameOf)
  return (locker) => {
    const name = nameOf(locker)
    return name !== null && named.get(name)?.length === 1 ? name : locker.locker_id
  }
}

/** Null where no locker of the wallet has the name, or several have it. */
export async function findNamed(db: Db, wallet: string, name: string): Promise<Locker | null> {
  if (!isBucketName(name)) return null
  const found = (await lockersTagged(db, wallet, NAME_TAG + name)).filter((locker) => nameOf(locker) === name)
  return found.length === 1 ? (found[0] as Locker) : null
}

function nameOf({ tags }: Locker): string | null {
  const name = lockerName(JSON.parse(tags))
  return name !== null && isBucketName(name) ? name : null
}
