import type { BundleLog } from '@svc/api/proofs'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { TransparencyLog } from '../../publication/log/prove-statement.ts'

/** What a bundle says of the log: undefined while no checkpoint has the statement. */
export async function bundleLog(
  { transparencyLog }: { transparencyLog: TransparencyLog },
  envelope: EvidenceEnvelope | null | undefined,
): Promise<BundleLog | undefined> {
  const found = envelope && (await transparencyLog.proof(envelope.statement_digest))
  return found ? { proof: found.proof, anchor: found.anchor } : undefined
}
