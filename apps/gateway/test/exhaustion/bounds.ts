// The requests that unauthenticated callers may send, and what limits their cost.

import type { Endpoint } from '@svc/api/endpoint'
import type { AnonymousRequest } from '@svc/devnet/services/flood'

/** What an unauthenticated caller may know of a gateway. */
export interface Known {
  receiptId: string
  /** The id of a share of the locker's file. */
  shareId: string
  /** The receipt of a payment on chain. */
  paidReceiptId: string
  digest: string
  payReqId: string
  /** The network of a leg of the quote. */
  network: string
  asset: string
}

export interface Bound {
  request(known: Known): AnonymousRequest
  /**
   * `address`: every request counts, and an address may send so many a minute. `work`: answers from memory are free,
   * and computed answers count. `none`: the answer comes from memory or a short query.
   */
  limit: 'address' | 'work' | 'none'
  /** The status of each answer that is not limited; 200 by default. */
  status?: number
  /** Set where an address may send fewer requests than usual. */
  perMinute?: number
  /** Rows that a served request may leave, by table. All other tables stay unchanged. */
  rows?: Readonly<Record<string, number>>
  /** Calls to nodes of the chains that a request may cause. */
  calls?: number
}

const free = (path: string | ((known: Known) => string), method = 'GET', body?: unknown): Bound => ({
  limit: 'none',
  request: (known) => ({ method, path: typeof path === 'string' ? path : path(known), body }),
})
const ofReceipt = (path: string, limit: Bound['limit'] = 'none'): Bound => ({
  limit,
  request: ({ receiptId }) => ({ path: `${path}receipt_id=${receiptId}` }),
})
const ofQuote = (path: string, more: (known: Known) => object, calls = 0): Bound => ({
  limit: 'address',
  calls,
  request: (known) => ({ method: 'POST', path, body: { pay_req_id: known.payReqId, ...more(known) } }),
})

const TOKEN = 'A'.repeat(60)
const UNKNOWN_TX = `0x${'12'.repeat(32)}`
const ADDRESS = `0x${'ab'.repeat(20)}`
/** A payment lookup asks every node of its chain for the block and the receipt. */
const LOOKUP_CALLS = 6

/** The usual bound: a GET with public knowledge, answered from memory or by a short query. */
function usualBound({ method, path, params, query }: Endpoint): Bound {
  const required = (inputs: Endpoint['query']): string[] => inputs?.required ?? []
  return {
    limit: 'none',
    request(known) {
      const values: Record<string, string> = {
        receipt_id: known.receiptId,
        statement_digest: known.digest,
        filename: 'a.txt',
      }
      const filled = required(params).reduce((text, name) => text.replace(`{${name}}`, values[name] ?? ''), path)
      const asked = required(query).map((name) => [name, values[name] ?? ''])
      return { method, path: `${filled}?${new URLSearchParams(asked)}` }
    },
  }
}

/** The bound of every public endpoint: the usual one, unless BOUNDS has another. */
export function boundsOf(endpoints: readonly Endpoint[]): Record<string, Bound> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint.name, BOUNDS[endpoint.name] ?? usualBound(endpoint)]))
}

/** The bounds of unusual endpoints, by name. */
export const BOUNDS: Readonly<Record<string, Bound>> = {
  health: { ...free('/health'), calls: 1 },
  errorExplained: free('/errors/RATE_LIMITED'),
  price: free('/v1/price?units=1000000'),

  requestStorage: {
    limit: 'address',
    status: 402,
    rows: { pay_requests: 1, quote_templates: 1 },
    request: () => ({ method: 'POST', path: '/v1/storage/request', body: { units: 3 } }),
  },
  confirmStorage: {
    ...ofQuote(
      '/v1/storage/confirm',
      () => ({ tx_sig: UNKNOWN_TX, pay_network: 'evm-mainnet', pay_asset: 'USDC' }),
      LOOKUP_CALLS,
    ),
    status: 402,
  },
  preparePayment: ofQuote('/v1/storage/payment/prepare', ({ network, asset }) => ({ network, asset }), LOOKUP_CALLS),
  sendPayment: { ...ofQuote('/v1/storage/payment/send', () => ({ transaction: 'A'.repeat(4000) })), status: 400 },
  paymentOutcome: ofQuote(
    '/v1/storage/payment/outcome',
    () => ({ tx: UNKNOWN_TX, payer: ADDRESS, life: { nonce: '1', block: '1' } }),
    LOOKUP_CALLS,
  ),
  watchPayment: { ...ofQuote('/v1/storage/payment/watch', () => ({})), rows: { watched_quotes: 1, jobs: 1 } },
  findPayment: ofQuote('/v1/storage/payment/find', () => ({}), LOOKUP_CALLS),
  buyStorage: {
    limit: 'address',
    status: 402,
    rows: { pay_requests: 1, quote_templates: 1 },
    request: () => ({ method: 'POST', path: '/v1/x402/storage', body: { units: 4 } }),
  },
  listBought: { limit: 'address', status: 402, request: () => ({ path: `/v1/x402/storage?wallet=${ADDRESS}` }) },

  verifyPayment: {
    limit: 'address',
    calls: LOOKUP_CALLS,
    request: ({ paidReceiptId }) => ({ path: `/v1/receipts/${paidReceiptId}/verify-payment` }),
  },

  provision: {
    limit: 'none',
    status: 401,
    request: ({ receiptId }) => ({ method: 'POST', path: '/v1/storage/provision', body: { receipt_id: receiptId } }),
  },
  confirmFile: {
    limit: 'address',
    status: 404,
    request: ({ receiptId }) => ({ method: 'POST', path: `/v1/files/confirm?receipt_id=${receiptId}&filename=b` }),
  },
  confirmFiles: {
    limit: 'address',
    request: ({ receiptId }) => ({
      method: 'POST',
      path: `/v1/files/confirm-batch?receipt_id=${receiptId}&filenames=b`,
    }),
  },

  readByToken: { ...free(`/f/${TOKEN}`), status: 403 },
  writeByToken: { ...free(`/f/${TOKEN}`, 'PUT', 'bytes'), status: 403 },
  deleteByToken: { ...free(`/f/${TOKEN}`, 'DELETE'), status: 403 },
  readPublicly: { ...free(({ receiptId }) => `/v1/r/${receiptId}/f/a.txt`), rows: { locker_egress: 1 } },
  openShare: { ...free(({ shareId }) => `/s/${shareId}`), status: 303 },
  showShare: free(({ shareId }) => `/v1/shares/${shareId}`),
  readShared: { ...free(({ shareId }) => `/v1/shares/${shareId}/f/a.txt`), rows: { locker_egress: 1 } },
  proveShared: free(({ shareId }) => `/v1/shares/${shareId}/proof/a.txt`),
  readTusUpload: { ...free(`/v1/tus/${TOKEN}`), status: 404 },
  writeTusUpload: { ...free(`/v1/tus/${TOKEN}`, 'PATCH', 'bytes'), status: 412 },
  terminateTusUpload: { ...free(`/v1/tus/${TOKEN}`, 'DELETE'), status: 412 },
  overrideTusMethod: { ...free(`/v1/tus/${TOKEN}`, 'POST', 'bytes'), status: 412 },

  verifyByPost: {
    limit: 'none',
    request: ({ receiptId }) => ({ method: 'POST', path: '/v1/storage/verify', body: { receipt_id: receiptId } }),
  },
  statements: ofReceipt('/v1/storage/statements?envelopes=true&'),
  publishedAnchor: { ...free(({ digest }) => `/v1/anchors/${digest}`), status: 404 },
  simulateAttest: {
    limit: 'address',
    request: ({ receiptId }) => ({ method: 'POST', path: '/v1/attest/simulate', body: { receipt_id: receiptId } }),
  },
  evidenceBundle: ofReceipt('/v1/storage/evidence-bundle?'),
  dsse: ofReceipt('/v1/storage/dsse?', 'work'),
  recomputeVerify: ofReceipt('/v1/storage/recompute-verify?', 'address'),
  selfVerify: ofReceipt('/v1/self-verify?', 'address'),

  logTile: free('/log/tile/0/000.p/1'),
  logStatements: free('/v1/log/statements?limit=1000'),
  logAnchors: free('/v1/log/anchors?limit=100'),
}

/** Requests beside the declared endpoints. */
export const UNDECLARED: Readonly<Record<string, Bound>> = {
  'the faucet of the local chains': {
    limit: 'address',
    perMinute: 1,
    calls: 20,
    request: () => ({ method: 'POST', path: '/dev/chains/faucet', body: { namespace: 'eip155', address: ADDRESS } }),
  },
  'a preflight': { ...free('/v1/storage/request', 'OPTIONS'), status: 204 },
  'a preflight of the tus endpoint': { ...free(`/v1/tus/${TOKEN}`, 'OPTIONS'), status: 204 },
  'an upgrade': {
    limit: 'none',
    request: () => ({ path: '/v1/keys', headers: { connection: 'upgrade', upgrade: 'websocket' } }),
  },
  'a path that does not exist': { ...free(`/${'a/'.repeat(4_000)}`), status: 404 },
  'a long query': free(`/v1/price?units=1&x=${'a'.repeat(15_000)}`),
  'many headers': {
    limit: 'none',
    request: () => ({
      path: '/v1/keys',
      headers: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-${i}`, '1'])),
    }),
  },
  'the S3 endpoint without a signature': { ...free('/s3/bucket/key', 'PUT', 'bytes'), status: 403 },
  'the S3 endpoint with a key that does not exist': {
    limit: 'address',
    status: 403,
    request: () => ({
      path: '/s3/bucket/key',
      headers: {
        'x-amz-date': '20260901T000000Z',
        'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        authorization: `AWS4-HMAC-SHA256 Credential=SVCAAAAAAAAAAAAAAAAA/20260901/auto/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${'0'.repeat(64)}`,
      },
    }),
  },
  'a compressed body': {
    limit: 'address',
    status: 415,
    request: () => ({
      method: 'POST',
      path: '/v1/storage/request',
      headers: { 'content-encoding': 'gzip' },
      body: { units: 1 },
    }),
  },
}
