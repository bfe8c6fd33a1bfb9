// Verifies a single statement without its files: its digest and its signature. This is all that can be verified about
// the links of a long chain without their bundles.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import { statementDigestMatches, wellFormedEnvelope } from './envelope-facts.ts'
import type { Fact } from './facts.ts'
import { followedKeys, type GivenKeys } from './pinned-keys.ts'
import { type SigningKey, statementSignature } from './signature-facts.ts'
import type { JsonObject } from './untrusted.ts'

const FACTS = ['statement_digest_matches', 'signature_valid', 'key_pinned'] as const
type StatementFact = (typeof FACTS)[number]

export interface VerifiedStatement {
  facts: Record<StatementFact, Fact>
  failed: StatementFact[]
  /** The key that verifies the signature. */
  key: SigningKey | null
  /** Null if the statement is malformed. */
  envelope: EvidenceEnvelope | null
}

export function verifyStatement(
  envelope: JsonObject,
  { domainTag = DEFAULT_DOMAIN_TAG, ...keys }: GivenKeys & { domainTag?: string } = {},
): VerifiedStatement {
  const { key, signature_valid, key_pinned } = statementSignature(envelope, followedKeys(keys, null), domainTag)
  const facts = { statement_digest_matches: statementDigestMatches({ envelope }), signature_valid, key_pinned }
  return {
    facts,
    failed: FACTS.filter((name) => facts[name].value === 'failed'),
    key,
    envelope: wellFormedEnvelope({ envelope }),
  }
}
