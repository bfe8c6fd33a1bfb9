import { join } from 'node:path'
import type { Context } from '@svc/gateway/context'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { developmentSeed } from '@svc/service/program/keys'

/** The gateway's own statement key, for signing what the gateway itself would not sign. */
export function statementSigner({ config }: Pick<Context, 'config'>): Ed25519Signer {
  return ed25519Signer(developmentSeed(join(config.dataDir, 'keys'), 'statement'))
}
