// What the operator of the gateway has closed (ADD-25). A frozen locker takes no writes and gives no new links; what was
// there can be read. Of one that is taken down, no bytes are served. Statements and proofs of both stay.

import type { LockerRestriction } from '@svc/api/lockers'
import { ServiceError } from '@svc/service/service-error'
import type { Locker } from '../db/schema.ts'

type Restricted = Pick<Locker, 'restriction'>

export function restrictionOf(locker: Pick<Locker, RestrictionColumn>): LockerRestriction | null {
  const { restriction: state, restricted_at: since, restriction_notice: notice } = locker
  return state === null || since === null ? null : { state, since, notice }
}

type RestrictionColumn = 'restriction' | 'restricted_at' | 'restriction_notice'

/** For everything that writes to a locker or hands out a new way into it. */
export function requireWritable(locker: Restricted): void {
  const error = restrictionError(locker)
  if (error) throw error
}

/** Why a locker takes no writes; null where it does. */
export function restrictionError({ restriction }: Restricted): ServiceError | null {
  if (restriction === null) return null
  return restriction === 'frozen' ? frozen() : takenDown()
}

/** How long a new link of a frozen locker lasts: its owner reads by it, and it is of no use to others. */
export const FROZEN_LINK_SECONDS = 300

/** For a link that was made without asking, by whoever has a key; null for a request that is none (T-165). */
export function requireShortLink(locker: Restricted, seconds: number | null): void {
  if (seconds !== null && seconds > FROZEN_LINK_SECONDS) requireWritable(locker)
}

/** For everything that answers the bytes of a locker. */
export function requireServed({ restriction }: Restricted): void {
  if (restriction === 'taken_down') throw takenDown()
}

export function isRestrictionError(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === 'LOCKER_FROZEN' || error.code === 'LOCKER_TAKEN_DOWN')
}

function frozen(): ServiceError {
  return new ServiceError('LOCKER_FROZEN', 'the operator of this gateway has frozen the locker', {
    hint: 'its files can be read, and nothing can be written or newly shared; ask the operator of the gateway',
  })
}

function takenDown(): ServiceError {
  return new ServiceError('LOCKER_TAKEN_DOWN', 'the operator of this gateway has taken the locker down', {
    hint: 'its bytes are not served; its statements and proofs stay; ask the operator of the gateway',
  })
}
