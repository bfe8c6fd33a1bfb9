// The inputs with which operations succeed, besides those with usual names: purchases, evidence, and the admin's.

import type { PaymentFacts } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { writable } from '@svc/devnet/writable'
import { fromHex } from '@svc/protocol/bytes'
import { createClient, memoryJournal, signerFromEvmKey } from '@svc/sdk'
import { evmKeyWallet } from '@svc/sdk/gateway-wallets'
import { bearer } from './credentials.ts'
import { byteRecipes, lockerRecipes, type Recipes } from './file-recipes.ts'
import type { GatewayFixture } from './fixture.ts'

const REASON = 'a customer wrote'
const PRIMARY = 'primary-mainnet'
const OWNER = DEMO_PAYERS[0]?.address as string // there are four

export function gatewayRecipes(fixture: GatewayFixture): Recipes {
  return {
    ...lockerRecipes(fixture),
    ...byteRecipes(fixture),
    ...purchaseRecipes(fixture),
    ...evidenceRecipes(fixture),
    ...operatorRecipes(fixture),
  }
}

function purchaseRecipes({ ask, bought, quote, paidQuote, ...fixture }: GatewayFixture): Recipes {
  const payer = DEV_PAYERS[0] as (typeof DEV_PAYERS)[number]
  const open = async () => ({ body: { pay_req_id: ((await quote()).accepts[0] as PaymentLeg).extra.pay_req_id } })

  /** A quote with the signature of an EVM wallet that pays it. */
  async function signedPayment() {
    const body = { units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' }
    const leg = (await ask<Quote>('requestStorage', { body })).accepts[0] as PaymentLeg
    const signer = signerFromEvmKey(fromHex(payer.privateKey.slice(2), 32) as Uint8Array)
    const options = { baseUrl: fixture.gateway.url, signer, journal: memoryJournal(), onWarning: () => {} }
    const client = createClient(options, { now: fixture.now })
    const signed = await evmKeyWallet({ client, isLocal: true }, payer.privateKey, payer.address).sign(leg)
    return { leg, signed, pay_req_id: leg.extra.pay_req_id }
  }

  return {
    confirmStorage: () => ({ body: { pay_req_id: bought.payReqId, tx_sig: bought.tx } }),
    async preparePayment() {
      const { network, asset, extra } = (await quote()).accepts[0] as PaymentLeg
      return { body: { pay_req_id: extra.pay_req_id, network, asset, payer: OWNER } }
    },
    async sendPayment() {
      const { pay_req_id, signed } = await signedPayment()
      return { body: { pay_req_id, transaction: signed.raw } }
    },
    async paymentOutcome() {
      const { pay_req_id, leg, signed } = await signedPayment()
      const { network, asset } = leg
      const facts = { body: { pay_req_id, network, asset, payer: payer.address } }
      const { eip155 } = await ask<PaymentFacts>('preparePayment', facts)
      const life = { nonce: String(eip155?.nonce), block: String(eip155?.block) }
      return { body: { pay_req_id, tx: signed.tx, payer: payer.address, life } }
    },
    watchPayment: open,
    findPayment: open,
    async sponsoredConfirm() {
      const { payReqId: pay_req_id, tx: tx_sig } = await paidQuote()
      return { body: { pay_req_id, tx_sig, owner_identity: OWNER } }
    },
    async sponsoredConfirmBatch() {
      const { payReqId, tx: tx_sig } = await paidQuote()
      return { body: { pay_req_ids: [payReqId], tx_sig, owner_identity: OWNER } }
    },
    readReceipt: () => ({ path: { receipt_id: bought.receiptId } }),
    verifyPayment: () => ({ path: { receipt_id: bought.receiptId } }),
    retrievePayment: () => ({ query: { receipt_id: bought.receiptId } }),
    requestStorage: () => ({ body: { units: 1 } }),
    buyStorage: () => ({ body: { units: 1 } }),
  }
}

function evidenceRecipes({ main, issuer }: GatewayFixture): Recipes {
  return {
    attest: () => ({ query: { receipt_id: main.receiptId, sync: true } }),
    evidenceBundle: () => ({ query: { receipt_id: main.receiptId } }),
    attestCodeByToken: () => ({ credential: bearer(() => issuer.token({ receipt_id: main.receiptId })) }),
    publishedAnchor: () => ({ path: { id: main.statementDigest } }),
    logTile: () => ({ path: { path: `0/000.p/${main.logSize}` } }),
    logProof: () => ({ query: { statement_digest: main.statementDigest } }),
    errorExplained: () => ({ path: { code: 'not_found' } }),
  }
}

function operatorRecipes({ gateway, bought, main, locker, paidQuote }: GatewayFixture): Recipes {
  /** Abandons a receipt that does not exist. */
  async function deadJob(): Promise<string> {
    const { queue, database } = gateway.context
    const receipt_id = `rcpt_${'0'.repeat(32)}`
    await writable(database.db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'attest', { receipt_id }))
    await queue.drain()
    const [dead] = await queue.deadLetters()
    if (!dead) throw new Error('the job did not fail')
    return dead.id
  }

  const actOnJob = async () => ({ path: { job_id: await deadJob() }, body: { reason: REASON } })

  return {
    internalBridgeRetry: () => ({ body: {} }),
    internalCronAttest: () => ({ body: {} }),
    findReceipts: () => ({ query: { tx: bought.tx } }),
    findLockers: () => ({ query: { q: main.lockerId } }),
    adminJob: async () => ({ path: { job_id: await deadJob() } }),
    retryJob: actOnJob,
    deleteJob: actOnJob,
    adminPayment: () => ({ query: { network: PRIMARY, tx: bought.tx } }),
    async restrictLocker() {
      const { lockerId } = await locker()
      return { path: { locker_id: lockerId }, body: { restriction: 'frozen', reason: REASON } }
    },
    async attachPayment() {
      const { payReqId: pay_req_id, tx } = await paidQuote()
      return { body: { network: PRIMARY, tx, asset: 'USDC', pay_req_id, reason: REASON } }
    },
    async refundPayment() {
      const { tx, leg } = await paidQuote()
      return { body: { network: PRIMARY, tx, asset: 'USDC', amount_raw: leg.amount, reason: REASON } }
    },
  }
}
