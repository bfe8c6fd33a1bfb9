import * as credentials from '@svc/api/s3-credentials'
import type { Service } from '@svc/service/http/service'
import { serveLocker, serveWallet } from '../../../auth/serve-signed.ts'
import type { Context } from '../../../context.ts'
import { createKey, createWalletKey, listKeys, listWalletKeys, revokeKey, revokeWalletKey } from './keys.ts'
import { mintCredentials, mintWalletCredentials } from './mint-credentials.ts'

export function credentialRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveLocker(service, auth, credentials.mintS3Credentials, ({ caller, body }) =>
    mintCredentials(context, caller, body),
  )
  serveLocker(service, auth, credentials.createS3Key, ({ caller, body }) => createKey(context, caller, body))
  serveLocker(service, auth, credentials.listS3Keys, ({ caller }) => listKeys(context, caller.locker))
  serveLocker(service, auth, credentials.revokeS3Key, ({ caller, params }) =>
    revokeKey(context, caller.locker, params.access_key_id),
  )
  serveWallet(service, auth, credentials.mintWalletS3Credentials, ({ caller, body }) =>
    mintWalletCredentials(context, caller, body),
  )
  serveWallet(service, auth, credentials.createWalletS3Key, ({ caller, body }) =>
    createWalletKey(context, caller, body),
  )
  serveWallet(service, auth, credentials.listWalletS3Keys, ({ caller }) => listWalletKeys(context, caller))
  serveWallet(service, auth, credentials.revokeWalletS3Key, ({ caller, params }) =>
    revokeWalletKey(context, caller, params.access_key_id),
  )
}
