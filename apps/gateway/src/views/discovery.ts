import { type Endpoint, listedEndpoint } from '@svc/api/endpoint'
import { gatewayEndpoints } from '@svc/api/gateway'
import { type Discovery, discovery, docs, keys, openApi, shortUrlVerifyKey } from '@svc/api/info'
import { NETWORKS } from '@svc/api/networks'
import type { Provider } from '@svc/api/providers'
import { buyStorage } from '@svc/api/x402'
import { toBase58 } from '@svc/protocol/bytes'
import {
  ANCHOR_ENVELOPE_VERSIONS,
  BUNDLE_VERSIONS,
  CONTRACT_VERSION,
  EVIDENCE_VERSION,
  HEADER_ENVELOPE,
  HEADER_SIGNATURE,
  INTERFACE_VERSION,
  MERKLE_VERSION,
  OPS,
  QUOTE_SCHEMA,
} from '@svc/protocol/names'
import type { Context } from '../context.ts'

/** The index of all surfaces. `verifyPage` is the hash of the single-file verify page, if the pages are built. */
export async function discoveryDocument(
  { config, signers, sales }: Context,
  verifyPage: { sha256: string } | null,
): Promise<Discovery> {
  const legs = await sales.offeredLegs()
  const at = (endpoint: Endpoint) => config.http.baseUrl + endpoint.path
  // Without a key to send payments with, standard x402 clients cannot pay there.
  const isServed = (endpoint: Endpoint) => endpoint !== discovery && (endpoint !== buyStorage || config.x402.isOpen)
  return {
    name: 'svc',
    environment: config.mode,
    contract_version: CONTRACT_VERSION,
    interface_version: INTERFACE_VERSION,
    base_url: config.http.baseUrl,
    openapi_url: at(openApi),
    docs_url: at(docs),
    ...(config.pages.agentUrl && { agent_url: config.pages.agentUrl }),
    ...(verifyPage && { verify_page: { url: `${config.http.baseUrl}/verify.html`, sha256: verifyPage.sha256 } }),
    keys_url: at(keys),
    short_url_verify_key_url: at(shortUrlVerifyKey),
    auth: { envelope_header: HEADER_ENVELOPE, signature_header: HEADER_SIGNATURE, ops: [...OPS] },
    payment: {
      quote_schema: QUOTE_SCHEMA,
      networks: NETWORKS.map((network) => ({
        network: network.caip2,
        name: network.name,
        assets: legs.filter(({ of }) => of.network === network).map(({ of }) => of.ticker),
        treasury: sales.treasuries.find((treasury) => treasury.network === network)?.address ?? '',
      })).filter(({ assets }) => assets.length > 0),
    },
    storage: {
      providers: Object.keys(config.storage.drivers).map((provider) => ({
        provider,
        ...(config.payments.terms[provider as Provider].storage && { storage: 'gateway' as const }),
      })),
      max_upload_bytes: config.storage.maxUploadBytes,
    },
    evidence: {
      merkle: MERKLE_VERSION,
      evidence: EVIDENCE_VERSION,
      bundle_versions: [...BUNDLE_VERSIONS],
      anchor_envelope_versions: [...ANCHOR_ENVELOPE_VERSIONS],
      domain_tag: config.evidence.domainTag,
      anchor_signer: toBase58(signers.publication.publicKey),
    },
    endpoints: gatewayEndpoints.filter(isServed).map(listedEndpoint),
  }
}
