// Every delegation has its own key, and its webhook a secret. Both are derived from one seed, and neither is stored.

import { hkdfSync } from 'node:crypto'
import { type Signer, signerFromSeed } from '@svc/sdk'

export interface DelegationKeys {
  /** Signs requests to the gateway for one delegation. */
  signerOf(delegationId: string): Signer
  /**
   * In the format of Standard Webhooks. Every URL has its own secret, so that one receiver cannot forge webhooks for
   * another.
   */
  webhookSecretOf(delegationId: string, url: string): string
}

export function createDelegationKeys(seed: Uint8Array): DelegationKeys {
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', seed, 'svc-agent/v1', purpose, 32))
  return {
    signerOf: (delegationId) => signerFromSeed(derive(`operator ${delegationId}`)),
    webhookSecretOf: (delegationId, url) =>
      `whsec_${Buffer.from(derive(`webhook ${delegationId} ${url}`)).toString('base64')}`,
  }
}
