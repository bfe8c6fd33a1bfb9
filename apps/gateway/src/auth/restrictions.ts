// Restrictions by the gateway's admin (ADD-25). A frozen locker accepts no writes and grants no new links, but its
// files can be read. A locker that is taken down serves no bytes. The statements and proofs of both remain.

import type { LockerRestriction } from '@svc/api/lockers'
import { ServiceError } from '@svc/service/service-error'
import type { Locker } from '../db/schema.ts'

type Restricted = Pick<Locker, 'restriction'>

export function restrictionOf(locker: Pick<Locker, RestrictionColumn>): LockerRestriction | null {
  const { restriction: state, restricted_at: since, restriction_notice: notice } = locker
  return state === null || since === null ? null : { state, since, notice }
}

type RestrictionColumn = 'restriction' | 'restricted_at' | 'restriction_notice'

/** For every operation that writes to a locker or grants new access to it. */
export function requireWritable(locker: Restricted): void {
  const error = restrictionError(locker)
  if (error) throw error
}

/** The reason why a locker accepts no writes; null if it does. */
export function restrictionError({ restriction }: Restricted): ServiceError | null {
  if (restriction === null) return null
  return restriction === 'frozen' ? frozen() : takenDown()
}

/** The lifetime of a new link to a frozen locker: long enough for its owner to read, too short to share. */
export const FROZEN_LINK_SECONDS = 300

/** For a link that a key holder signed without a request to the gateway; null for ordinary requests (T-165). */
export function requireShortLink(locker: Restricted, seconds: number | null): void {
  if (seconds !== null && seconds > FROZEN_LINK_SECONDS) requireWritable(locker)
}

/** For every operation that serves the bytes of a locker. */
export function requireServed({ restriction }: Restricted): void {
  if (restriction === 'taken_down') throw takenDown()
}

export function isRestrictionError(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === 'LOCKER_FROZEN' || error.code === 'LOCKER_TAKEN_DOWN')
}

function frozen(): ServiceError {
  return new ServiceError('LOCKER_FROZEN', "the gateway's admin has frozen the locker", {
    hint: "its files can be read, but nothing can be written or newly shared; contact the gateway's admin",
  })
}

function takenDown(): ServiceError {
  return new ServiceError('LOCKER_TAKEN_DOWN', "the gateway's admin has taken the locker down", {
    hint: "its bytes are not served, but its statements and proofs remain; contact the gateway's admin",
  })
}
