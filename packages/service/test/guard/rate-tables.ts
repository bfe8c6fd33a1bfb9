// For tests: the table of the rate limits, and a count of the admitted takes.

import type { Migrations } from '@svc/database/migrate'
import { ServiceError } from '../../src/service-error.ts'

export const rateMigrations: Migrations = {
  '0001-rate-limits': async (db, column) => {
    await db.schema
      .createTable('rate_limits')
      .addColumn('key', column.text, (c) => c.primaryKey())
      .addColumn('tat', column.integer, (c) => c.notNull())
      .execute()
  },
}

/** Throws when a take fails for another reason than its limit. */
export async function admitted(takes: readonly Promise<void>[]): Promise<boolean[]> {
  const isAdmitted = (take: Promise<void>) => take.then(() => true, refuseOtherErrors)
  return Promise.all(takes.map(isAdmitted))
}

function refuseOtherErrors(error: unknown): false {
  if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return false
  throw error
}

export async function countAdmitted(takes: readonly Promise<void>[]): Promise<number> {
  return (await admitted(takes)).filter(Boolean).length
}

export async function refusalOf(verification: Promise<unknown>): Promise<ServiceError> {
  const error = await verification.catch((error: unknown) => error)
  if (error instanceof ServiceError) return error
  throw new Error('there was no rejection', { cause: error })
}
