// Credentials that last one hour at most: for one locker, requested by its owner or an operator; or for all lockers of
// a wallet, requested by the wallet. They end with the access of the requesting key.

import type { Body } from '@svc/api/endpoint'
import type {
  mintS3Credentials as endpoint,
  S3Credentials,
  WalletS3Credentials,
  mintWalletS3Credentials as walletEndpoint,
} from '@svc/api/s3-credentials'
import { isoSeconds } from '@svc/protocol/evidence'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { ServiceError } from '@svc/service/service-error'
import type { EnvelopeWalletCaller, LockerCaller } from '../../../auth/callers.ts'
import { limitSigner } from '../../../auth/limits.ts'
import { requireWritable } from '../../../auth/restrictions.ts'
import { type Context, unixNow } from '../../../context.ts'
import { allowedMinutes } from '../../../files/urls.ts'
import { grantTo } from '../../../lockers/access.ts'
import { SALT_BYTES } from './credential-keys.ts'
import { connectionOf, endpointOf, epochsNow, requireFolder, requireOwned, requireS3 } from './scope.ts'
import { type CredentialScope, sealSession } from './session-token.ts'

const DEFAULT_TTL_MINUTES = 60
/** The most epochs that fit in a session token. */
export const MAX_EPOCHS = 80

export async function mintCredentials(
  context: Context,
  { locker, signer, envelope }: LockerCaller,
  { ttl_min = DEFAULT_TTL_MINUTES, access = 'read', prefix = '' }: Body<typeof endpoint>,
): Promise<S3Credentials> {
  requireS3(context)
  requireSigned(access, envelope)
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
  return {
    ...sealed(context, scope),
    access,
    prefix,
    expires_at: isoSeconds(scope.expiresAt),
    ...connectionOf(context, locker.locker_id),
  }
}

export async function mintWalletCredentials(
  context: Context,
  { signer, envelope }: EnvelopeWalletCaller,
  { ttl_min = DEFAULT_TTL_MINUTES, access = 'read' }: Body<typeof walletEndpoint>,
): Promise<WalletS3Credentials> {
  requireS3(context)
  requireSigned(access, envelope)
  await limitSigner(context, signer)
  const wallet = signer.identity
  const mintedAt = unixNow(context)
  const epochs = epochsNow(await requireOwned(context.database.db, wallet), MAX_EPOCHS)
  const scope = { wallet, epochs, mintedAt, access, expiresAt: mintedAt + ttl_min * 60 }
  return { ...sealed(context, scope), access, expires_at: isoSeconds(scope.expiresAt), ...endpointOf(context) }
}

function sealed({ credentialKeys, randomBytes }: Context, scope: CredentialScope) {
  const { accessKeyId, secret, token } = sealSession(credentialKeys, scope, randomBytes(SALT_BYTES))
  return { access_key_id: accessKeyId, secret_access_key: secret, session_token: token }
}

function requireSigned(access: CredentialScope['access'], { ops }: RequestEnvelope): void {
  if (access === 'write' && !ops.includes('locker:write')) throw writeNotSigned()
}

function writeNotSigned(): ServiceError {
  return new ServiceError(
    'MISSING_OPS',
    'credentials with write access need locker:write, which the envelope does not contain',
    {
      hint: 'sign with ops: ["locker:write"], or request access "read"',
      details: { required_ops: ['locker:write'] },
    },
  )
}
