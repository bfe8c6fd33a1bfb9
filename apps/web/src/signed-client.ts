// A client of the gateway that serves these pages. It signs for the public address of the gateway, but sends to the
// origin of the page, because the policy of the pages allows no other origin.

import type { Client, Journal } from '@svc/sdk'
import type { Signer } from '@svc/sdk/signers'
import { urlOf } from './address.ts'
import { getJson, index, publicUrl } from './gateway.ts'

/** Loads the client library when it is first used. */
export async function createSignedClient(signer: Signer | null, journal?: Journal): Promise<Client> {
  const [{ createClient }, lead, baseUrl] = await Promise.all([import('@svc/sdk'), clockLead(), knownAddress()])
  const { value: known } = index.now
  return createClient(
    {
      baseUrl,
      fetch: (input, init) => fetch(urlOf(String(input).slice(baseUrl.length)), { ...init, credentials: 'omit' }),
      // Warnings in the console would not be read.
      onWarning: () => {},
      retryStorageFor: 'seconds',
      ...(known.state === 'ready' && { domainTag: known.value.evidence.domain_tag }),
      ...(signer && { signer }),
      ...(journal && { journal }),
    },
    { now: () => Date.now() + lead },
  )
}

/** The public address of the gateway, fetched if it is not known yet. */
export async function knownAddress(): Promise<string> {
  if (index.now.value.state !== 'ready') await index.load()
  return publicUrl().replace(/\/+$/, '')
}

let lead: Promise<number> | null = null

/**
 * How far the gateway's clock is ahead, in milliseconds. The gateway checks envelopes against its own clock. A wrong
 * clock of this computer should not make a wallet be asked twice.
 */
function clockLead(): Promise<number> {
  lead ??= getJson<{ time: string }>('/health').then(
    ({ time }) => {
      const ahead = Date.parse(time) - Date.now()
      return Math.abs(ahead) > 2_000 ? ahead : 0
    },
    () => {
      lead = null
      return 0
    },
  )
  return lead
}
