// Settings of evidence: the domain tag of statements, what one answer may read, and whose tokens name receipts.

import type { Mode, SettingsReader } from '@svc/http-service/config'
import { DEFAULT_DOMAIN_TAG, DOMAIN_TAG_BYTES, domainTagBytes } from '@svc/protocol/names'
import { readTokens, type TokenConfig } from '../auth/settings.ts'

export interface EvidenceConfig {
  domainTag: string
  /** How much recompute-verify reads for one answer. */
  recomputeMaxBytes: number
  /** Whose tokens name receipts. */
  tokens: TokenConfig | null
}

const GIBIBYTE = 1_073_741_824

export function readEvidenceConfig(settings: SettingsReader, mode: Mode): EvidenceConfig {
  return {
    domainTag: domainTag(settings),
    recomputeMaxBytes: settings.integer('RECOMPUTE_MAX_BYTES', 10 * GIBIBYTE, {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
    tokens: readTokens(settings, 'ATTEST_JWT', mode),
  }
}

function domainTag(settings: SettingsReader): string {
  const tag = settings.text('ENVELOPE_DOMAIN_TAG', DEFAULT_DOMAIN_TAG)
  if (domainTagBytes(tag) === null) {
    settings.problem(
      `ENVELOPE_DOMAIN_TAG must be exactly ${DOMAIN_TAG_BYTES} printable ASCII characters, not ${tag.length}`,
    )
  }
  return tag
}
