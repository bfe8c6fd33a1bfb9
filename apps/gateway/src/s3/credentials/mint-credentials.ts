// Credentials for an hour at most, for the owner and for operators: they end with the key that asked for them.

import type { Body } from '@svc/api/endpoint'
import type { mintS3Credentials as endpoint, S3Credentials } from '@svc/api/s3-credentials'
import { ServiceError } from '@svc/http-service/service-error'
import { isoSeconds } from '@svc/protocol/evidence'
import type { LockerCaller } from '../../auth/callers.ts'
import { limitSigner } from '../../auth/limits.ts'
import { requireWritable } from '../../auth/restrictions.ts'
import { unixNow } from '../../context.ts'
import { allowedMinutes } from '../../files/urls.ts'
import { grantTo } from '../../lockers/access.ts'
import { SALT_BYTES } from './credential-keys.ts'
import type { CredentialsContext } from './find-credential.ts'
import { connectionOf, requireDoor, requireFolder } from './scope.ts'
import { sealSession } from './session-token.ts'

const DEFAULT_TTL_MINUTES = 60

export async function mintCredentials(
  context: CredentialsContext,
  { locker, signer, envelope }: LockerCaller,
  { ttl_min = DEFAULT_TTL_MINUTES, access = 'read', prefix = '' }: Body<typeof endpoint>,
): Promise<S3Credentials> {
  requireDoor(context)
  if (access === 'write' && !envelope.ops.includes('locker:write')) throw writeNotSigned()
  if (access === 'write') requireWritable(locker)
  const minutes = allowedMinutes(locker, signer, ttl_min)
  const scope = {
    lockerId: locker.locker_id,
    grant: grantTo(signer.identity, locker),
    access,
    prefix: requireFolder(context, prefix),
    expiresAt: unixNow(context) + minutes * 60,
  }
  await limitSigner(context, signer)
  const { accessKeyId, secret, token } = sealSession(context.credentialKeys, scope, context.randomBytes(SALT_BYTES))
  return {
    access_key_id: accessKeyId,
    secret_access_key: secret,
    session_token: token,
    access,
    prefix,
    expires_at: isoSeconds(scope.expiresAt),
    ...connectionOf(context, locker.locker_id),
  }
}

function writeNotSigned(): ServiceError {
  return new ServiceError(
    'MISSING_OPS',
    'credentials that write need locker:write, and the envelope does not have it',
    {
      hint: 'sign with ops: ["locker:write"], or ask for access "read"',
      details: { required_ops: ['locker:write'] },
    },
  )
}
