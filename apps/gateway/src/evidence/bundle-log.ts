import type { BundleLog } from '@svc/api/proofs'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Context } from '../context.ts'
import type { TransparencyLog } from '../log/transparency-log.ts'

/**
 * What a bundle says of the log: undefined while no checkpoint has the statement. A log that is damaged holds no bundle
 * up, because the bundle is good without it.
 */
export async function bundleLog(
  { transparencyLog, log }: Pick<Context, 'log'> & { transparencyLog: TransparencyLog },
  envelope: EvidenceEnvelope | null | undefined,
): Promise<BundleLog | undefined> {
  if (!envelope) return undefined
  try {
    const found = await transparencyLog.proof(envelope.statement_digest)
    return found ? { proof: found.proof, anchor: found.anchor } : undefined
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    log.error({ err: error }, 'the log is damaged: a bundle is answered without its proof')
    return undefined
  }
}
