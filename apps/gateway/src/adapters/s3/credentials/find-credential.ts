// Resolves an access key id and a session token to a credential. Whether it still opens a locker depends on the row of
// the locker, which is read for each request.

import { s3Error } from '@svc/s3/errors'
import { type Context, unixNow } from '../../../context.ts'
import { isKeyId } from './key-ids.ts'
import { scopeOfKey, secretOfKey } from './key-rows.ts'
import { type CredentialScope, openSession } from './session-token.ts'

export type S3Credential = CredentialScope & { accessKeyId: string; secret: string }

/** Null for credentials that this gateway did not make, and for revoked or expired keys. */
export async function findCredential(
  context: Context,
  accessKeyId: string,
  sessionToken: string | null,
): Promise<S3Credential | null> {
  if (sessionToken === null) return findLongLived(context, accessKeyId)
  const session = openSession(context.credentialKeys, accessKeyId, sessionToken)
  if (!session) return null
  if (session.expiresAt <= unixNow(context)) throw expired()
  return { ...session, accessKeyId }
}

async function findLongLived(context: Context, accessKeyId: string): Promise<S3Credential | null> {
  const { credentialKeys, findKey } = context
  const row = isKeyId(credentialKeys, accessKeyId) ? await findKey(accessKeyId) : null
  if (!row || row.expires_at <= unixNow(context)) return null
  return { ...scopeOfKey(row), accessKeyId, secret: secretOfKey(credentialKeys, row) }
}

/** Clients know this code; some of them then request new credentials automatically. */
function expired() {
  return s3Error('ExpiredToken', 'these credentials have expired', 'request new ones: svc s3 credentials')
}
