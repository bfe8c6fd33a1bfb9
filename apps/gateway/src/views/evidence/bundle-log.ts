import type { BundleLog } from '@svc/api/proofs'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { TransparencyLog } from '../../publication/log/prove-statement.ts'

/** The log proof in a bundle: undefined while no checkpoint covers the statement. */
export async function bundleLog(
  { transparencyLog }: { transparencyLog: TransparencyLog },
  envelope: EvidenceEnvelope | null | undefined,
): Promise<BundleLog | undefined> {
  const found = envelope && (await transparencyLog.proof(envelope.statement_digest))
  return found ? { proof: found.proof, anchor: found.anchor } : undefined
}
