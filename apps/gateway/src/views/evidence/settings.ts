// Settings of evidence: the domain tag of statements, how much one answer may read, and the accepted token issuer.

import { DOMAIN_TAG_BYTES, domainTagBytes } from '@svc/protocol/names'
import type { Mode, SettingsReader } from '@svc/service/program/config'
import { readTokens, type TokenConfig } from '../../auth/settings.ts'
import { readFileLimit } from '../../files/settings.ts'

export interface EvidenceConfig {
  domainTag: string
  /** The most that recompute-verify reads for one answer. */
  recomputeMaxBytes: number
  /** The issuer of tokens that name a receipt. */
  tokens: TokenConfig | null
}

export function readEvidenceConfig(settings: SettingsReader, mode: Mode): EvidenceConfig {
  return {
    domainTag: domainTag(settings),
    recomputeMaxBytes: readFileLimit(settings, 'recompute_bytes', Number.MAX_SAFE_INTEGER, 0),
    tokens: readTokens(settings, 'ATTEST_JWT', mode),
  }
}

function domainTag(settings: SettingsReader): string {
  const tag = settings.text('ENVELOPE_DOMAIN_TAG')
  if (domainTagBytes(tag) === null) {
    settings.problem(
      `ENVELOPE_DOMAIN_TAG must be exactly ${DOMAIN_TAG_BYTES} printable ASCII characters, not ${tag.length}`,
    )
  }
  return tag
}
