// A request to each endpoint for existing data, and its answer while the database is behind.

import { CHUNK, type OperatorAccess, type StoredRecords, type Story, TUS, TX } from './behind-story.ts'

export interface EndpointRequest {
  query?: Record<string, string>
  body?: unknown
  headers?: Record<string, string>
  /** The status of a served request; 200 by default. */
  status?: number
  code?: string
}

const EVM_TX = `0x${'12'.repeat(32)}`
const ADDRESS = `0x${'ab'.repeat(20)}`
const REASON = { reason: 'a customer wrote' }
const NEW_FILE = { filename: 'new.txt', content_type: 'text/plain' }
const PAYMENT = { network: 'primary-mainnet', tx: TX, asset: 'USDC' }
/** No chain is configured here, so requests that need one are refused. */
const NO_CHAIN = { status: 503, code: 'chain_unavailable' }
const BEHIND = { status: 503, code: 'database_behind' }

/** By endpoint name: what each request needs besides its path. */
export function requestsOf(
  { ids, owner, payReqId: pay_req_id }: Story,
  access: OperatorAccess,
  { digest }: StoredRecords,
): Record<string, EndpointRequest> {
  const receipt = { receipt_id: ids.receiptId }
  const ofReceipt = { query: receipt }
  const ofWallet = { query: { wallet: owner.identity } }
  const ofFile = { query: { ...receipt, filename: 'kept.txt' } }
  const holder = { headers: access.holder }
  const bytes = { body: 'stolen', headers: { 'content-type': 'text/plain' } }
  return {
    price: NO_CHAIN,
    // The request would store a quote.
    requestStorage: { body: { units: 1 }, ...BEHIND },
    confirmStorage: { body: { pay_req_id, tx_sig: TX } },
    preparePayment: { body: { pay_req_id, network: 'eip155:143', asset: 'USDC' } },
    sendPayment: { body: { pay_req_id, transaction: 'AAAA' } },
    findPayment: { body: { pay_req_id }, ...NO_CHAIN },
    paymentOutcome: { body: { pay_req_id, tx: EVM_TX, payer: ADDRESS, life: { nonce: '1', block: '1' } }, ...NO_CHAIN },
    watchPayment: { body: { pay_req_id } },
    verifyPayment: NO_CHAIN,
    sponsoredConfirm: { body: { pay_req_id, tx_sig: TX } },
    sponsoredConfirmBatch: { body: { pay_req_ids: [pay_req_id], tx_sig: TX } },
    buyStorage: { body: { units: 1 } },
    listBought: {
      query: { wallet: owner.identity },
      status: 402,
      code: 'Sign in with the wallet that made the purchases.',
    },

    addOperator: { body: { pubkey: owner.identity } },
    renameLocker: { body: { name: 'other' } },
    changeAnchoring: { body: { anchoring: 'log' } },
    changePublicLink: { body: { action: 'rotate' } },
    listLockers: ofWallet,
    provision: { body: receipt },
    signedProvision: { body: receipt },
    refresh: { body: { ...receipt, ttl_min: 5 } },
    revokeAccess: { body: {} },

    createShare: { body: { path: 'a.txt' } },
    // The statement does not include it.
    proveShared: { status: 404, code: 'FILE_NOT_ATTESTED' },

    createFile: { body: NEW_FILE },
    createFiles: { body: { files: [NEW_FILE] } },
    fetchAndStore: { body: { locker_id: ids.lockerId, source_url: 'https://source.example/a', ...NEW_FILE } },
    fileUrls: { body: { filenames: ['a.txt'] } },
    renameFiles: { body: { files: [{ filename: 'a.txt', new_filename: 'b.txt' }] } },
    confirmFile: { query: { ...receipt, filename: 'direct.txt' } },
    confirmFiles: { query: { ...receipt, filenames: 'direct.txt' } },
    writeByToken: bytes,

    openUploadSession: { body: { files: [NEW_FILE] } },
    readUploadSession: holder,
    uploadPart: { ...holder, body: { index: 1, data: Buffer.from('more').toString('base64') } },
    finalizeUpload: { ...holder, body: {} },
    finalizeUploadJob: { body: { session_id: access.session.session_id } },
    createS3Key: { body: { name: 'another', access: 'write', expires_in_days: 30 } },
    mintS3Credentials: { body: { access: 'write' } },
    createWalletS3Key: { ...ofWallet, body: { name: 'another', access: 'write', expires_in_days: 30 } },
    listWalletS3Keys: ofWallet,
    mintWalletS3Credentials: { ...ofWallet, body: { access: 'write' } },
    revokeWalletS3Key: ofWallet,
    createTusToken: { body: { ttl_min: 600 } },
    createTusUpload: { headers: { ...TUS, ...access.tusToken.headers, 'upload-length': '9' } },
    overrideTusMethod: {
      headers: { ...CHUNK, 'x-http-method-override': 'PATCH', 'upload-offset': '4' },
      body: 'stole',
    },
    readTusUpload: { headers: TUS },
    terminateTusUpload: { headers: TUS },
    writeTusUpload: { headers: { ...CHUNK, 'upload-offset': '4' }, body: 'stole' },

    attest: ofReceipt,
    push: { body: receipt },
    attestCode: ofReceipt,
    attestCodeByToken: ofReceipt,
    publishedAnchor: { status: 404, code: 'statement_not_found' },
    retrieve: ofReceipt,
    retrievePayment: ofReceipt,
    simulateAttest: { body: receipt },
    statements: ofReceipt,
    verify: ofReceipt,
    verifyByPost: { body: receipt },
    evidenceBundle: ofReceipt,
    merkleProof: ofFile,
    recomputeVerify: ofReceipt,
    redactedBundle: ofFile,
    selfVerify: ofReceipt,
    verificationBundle: ofReceipt,
    // The request signs.
    dsse: { ...ofReceipt, ...BEHIND },
    logProof: { query: { statement_digest: digest } },

    internalAttest: { body: { ...receipt, force: true } },
    internalAttestPayment: { body: receipt },
    internalBridgeRetry: { body: {} },
    internalCronAttest: { body: {} },
    findReceipts: { query: { tx: TX } },
    attachPayment: { body: { ...PAYMENT, pay_req_id, ...REASON } },
    deleteJob: { body: REASON },
    findLockers: { query: { q: ids.lockerId } },
    adminPayment: { query: { network: PAYMENT.network, tx: TX } },
    refundPayment: { body: { ...PAYMENT, amount_raw: '1', ...REASON } },
    restrictLocker: { body: { restriction: 'frozen', ...REASON } },
    retryJob: { body: REASON },
  }
}
