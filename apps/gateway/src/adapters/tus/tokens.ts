// Tokens that authorize uploads into a locker. They are sealed and not stored, and end with the access of the key that
// requested them.

import type { Body } from '@svc/api/endpoint'
import type { createTusToken, TusToken } from '@svc/api/tus'
import { isoSeconds } from '@svc/protocol/evidence'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ValidationError } from '@svc/service/service-error'
import type { LockerCaller } from '../../auth/callers.ts'
import { limitSigner } from '../../auth/limits.ts'
import { requireWritable } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { folderProblem } from '../../files/name-files.ts'
import { findLockerOf } from '../../files/store.ts'
import { type Grant, grantTo, isGranted } from '../../lockers/access.ts'
import { tokenInvalid } from './errors.ts'
import { headerOf } from './headers.ts'

/** The contents of a token. */
interface Sealed {
  locker: string
  key: string
  epoch: number
  prefix: string
  /** Absent from tokens of earlier releases. */
  overwrite?: boolean
  /** Unix seconds. */
  expires: number
}

export interface TusCaller {
  locker: Locker
  grant: NonNullable<Grant>
  /** Prepended to every name. */
  prefix: string
  /** Whether an upload may replace a file. */
  mayReplace: boolean
}

const DEFAULT_TTL_MINUTES = 60

export async function mintToken(
  context: Context,
  { locker, signer }: LockerCaller,
  { ttl_min = DEFAULT_TTL_MINUTES, prefix = '', overwrite }: Body<typeof createTusToken>,
): Promise<TusToken> {
  requirePrefix(context, prefix)
  await limitSigner(context, signer)
  const { key, epoch } = grantTo(signer.identity, locker)
  const expires = unixNow(context) + ttl_min * 60
  const sealed: Sealed = {
    locker: locker.locker_id,
    key,
    epoch,
    prefix,
    expires,
    ...(overwrite !== undefined && { overwrite }),
  }
  return {
    tus_endpoint: `${context.config.http.baseUrl}/v1/lockers/${locker.locker_id}/tus`,
    headers: { 'X-Upload-Token': context.uploadTokens.seal(sealed) },
    expires_at: isoSeconds(expires),
  }
}

function requirePrefix(context: Context, prefix: string): void {
  const msg = prefix === '' ? null : folderProblem(context, prefix)
  if (msg !== null) throw new ValidationError({ loc: ['body', 'prefix'], msg })
}

/** Except for restrictions, every fault of a token gets the same response. */
export async function tusCaller(context: Context, wire: WireRequest, lockerId: string): Promise<TusCaller> {
  // A token that opens was sealed by this gateway.
  const sealed = context.uploadTokens.open(headerOf(wire, 'X-Upload-Token') ?? '') as Sealed | null
  if (!sealed || sealed.locker !== lockerId || sealed.expires <= unixNow(context)) throw tokenInvalid()
  const locker = await findLockerOf(context.database.db, { locker_id: lockerId })
  // Several clients share the folder of a prefix token, and none of them may replace the files of another by default.
  const { key, epoch, prefix, overwrite: mayReplace = prefix === '' } = sealed
  if (!locker || !isGranted(locker, { key, epoch })) throw tokenInvalid()
  requireWritable(locker)
  return { locker, grant: { key, epoch }, prefix, mayReplace }
}
