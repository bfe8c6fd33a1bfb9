// The scope of a new credential.

import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { Context } from '../../../context.ts'
import type { Db, Locker } from '../../../db/schema.ts'
import { folderProblem } from '../../../files/name-files.ts'
import { lockersOwnedBy } from '../../../lockers/store.ts'

export function requireFolder(context: Context, prefix: string): string {
  if (prefix === '') return prefix
  const problem = folderProblem(context, prefix)
  if (problem) throw new ValidationError({ loc: ['body', 'prefix'], msg: problem })
  return prefix
}

/**
 * The lockers that a credential of the wallet opens. Wallets are free to create, so a wallet without a locker gets no
 * credentials.
 */
export async function requireOwned(db: Db, wallet: string): Promise<Locker[]> {
  const lockers = await lockersOwnedBy(db, wallet)
  if (lockers.length > 0) return lockers
  throw new ServiceError('locker_not_found', 'this wallet owns no open locker', {
    hint: 'buy a locker first; credentials of a wallet also open lockers that it buys later',
  })
}

/** The epochs of lockers with an earlier revocation: access of an earlier epoch has ended. Newest lockers first. */
export function epochsNow(lockers: readonly Locker[], limit = lockers.length): Record<string, number> {
  const revoked = lockers.filter(({ revoked_before }) => revoked_before > 0).toReversed()
  return Object.fromEntries(revoked.slice(0, limit).map(({ locker_id, access_epoch }) => [locker_id, access_epoch]))
}

export function requireS3({ config }: Context): void {
  if (config.s3.enabled) return
  throw new ServiceError('S3_DISABLED', 'S3 access is disabled on this gateway', {
    hint: "use signed requests and short URLs, or ask the gateway's admin to set S3=on",
  })
}

/** The S3 endpoint, and the locker's bucket name there. */
export function connectionOf(context: Context, lockerId: string) {
  return { ...endpointOf(context), bucket: lockerId }
}

export function endpointOf({ config: { s3, http } }: Context) {
  return { endpoint: endpointUrl(s3.host, http.baseUrl), region: s3.region }
}

/** A separate S3 host uses the scheme and the port of the gateway. */
function endpointUrl(host: string | null, baseUrl: string): string {
  if (host === null) return `${baseUrl}/s3`
  const { protocol, port } = new URL(baseUrl)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}
