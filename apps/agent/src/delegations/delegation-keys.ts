// Every delegation has a key of its own, and its webhook a secret. Both follow from one seed: none is kept anywhere.

import { hkdfSync } from 'node:crypto'
import { type Signer, signerFromSeed } from '@svc/sdk'

export interface DelegationKeys {
  /** Acts at the gateway for one delegation. */
  signerOf(delegationId: string): Signer
  /** As Standard Webhooks write it. Another address has another secret: who knew the first learns nothing of it. */
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
