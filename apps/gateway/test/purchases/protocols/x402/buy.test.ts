import { ASSETS, type Asset } from '@svc/api/assets'
import type { Confirmation } from '@svc/api/purchases'
import type { X402Purchase, X402Quote } from '@svc/api/x402'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS, FAUCET, MINTS, TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { ed25519Identity, evmIdentity, signCall } from '@svc/devnet/services/signing'
import { testGatewayOf } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { paymentReference } from '@svc/protocol/ids'
import { hexToBytes } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  buyWith,
  encoded,
  expectRefused,
  FAMILIES,
  type Family,
  legOn,
  PRICE,
  pay,
  post,
  responseIn,
  type SignedHeader,
  signFor,
  startX402Testbed,
  treasuryUsdc,
  WALLETS,
  walletOn,
} from './x402-testbed.ts'

const testbed = forAllTests(() => startX402Testbed())

it('the quote has legs that the exact scheme can pay, and describes the purchase', async () => {
  const { status, body } = await post<X402Quote>(testbed.url, { units: 3, provider: 'mongodb', tags: ['cat'] })
  expect(status).toBe(402)
  const { pay_req_id } = body.extensions.svc.info
  const signable = (ASSETS as readonly Asset[]).filter(({ network, pricing, domainVersion }) =>
    network.family === 'evm' ? domainVersion !== undefined : pricing.by === 'usd',
  )
  expect(signable.map(({ ticker }) => ticker)).toContain('USDC')
  expect(body.accepts.map(({ network, extra }) => [network, extra.name])).toEqual(
    signable.map(({ network, ticker }) => [network.caip2, ticker]),
  )
  expect(legOn('primary', body)).toEqual({
    scheme: 'exact',
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    amount: '375000',
    asset: MINTS.USDC.mint,
    payTo: TREASURY.address,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USDC',
      decimals: 6,
      human_amount: '0.375',
      pay_req_id,
      quote_schema: 'svc_quote_v4',
      memo: paymentReference(pay_req_id),
      feePayer: FAUCET.address,
      token_account: await tokenAccountOf(TREASURY.address, 'USDC'),
    },
  })
  expect(legOn('evm', body).extra).toMatchObject({ name: 'USDC', version: '2', pay_req_id })
  expect(body.resource.url).toMatch(/\/v1\/x402\/storage$/)
  expect(body.extensions.svc).toMatchObject({
    price_summary: { units: 3, provider: 'mongodb' },
    terms: { file_limit: 3000, environment: 'development' },
    tags: ['cat'],
  })
  expect(body.extensions.svc.instructions.steps[0]).toContain('do not send real funds')
})

const ownerOn = (family: Family) =>
  family === 'evm'
    ? evmIdentity(hexToBytes(DEV_PAYERS[1]!.privateKey))
    : ed25519Identity(DEMO_PAYERS[1]!.privateKeyBytes)

const requiredBy = ({ quote, payload }: SignedHeader) => ({
  x402Version: 2,
  resource: quote.resource,
  accepts: [payload.accepted],
})

/** Another payment in the name of the same payer with the signature of the first. */
function altered(payload: Record<string, unknown>): Record<string, unknown> {
  const { transaction, authorization } = payload as { transaction?: string; authorization?: object }
  if (transaction === undefined)
    return { ...payload, authorization: { ...authorization, nonce: `0x${'ab'.repeat(32)}` } }
  const bytes = Buffer.from(transaction, 'base64')
  bytes.write('0000', bytes.indexOf('ref_') + 4)
  return { transaction: bytes.toString('base64') }
}

describe.each(FAMILIES)('a stock client with a wallet on the %s chain', (family) => {
  it('PAY-51 a stock client buys in one call, with a receipt that names its wallet and matches the chain', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const response = await buyWith(await walletOn(family, testbed.chains), testbed.url)
    const body = (await response.json()) as Confirmation
    expect(response.status, JSON.stringify(body)).toBe(200)
    const { receipt, receipt_id } = body
    expect(body).toMatchObject({ ok: true, idempotent: false, paid_raw: String(PRICE), pay_asset: 'USDC' })
    expect(receipt).toMatchObject({ units: 1, payer_pubkey: WALLETS[family], received_raw: String(PRICE) })
    expect(responseIn(response.headers)).toMatchObject({
      success: true,
      transaction: receipt.tx_hash,
      network: family === 'evm' ? 'eip155:143' : 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      payer: WALLETS[family],
    })
    expect(await treasuryUsdc(family, testbed.chains)).toBe(before + PRICE)
    const check = await testGatewayOf(testbed.gateway).send<{ verified: boolean }>(
      'GET',
      `/v1/receipts/${receipt_id}/verify-payment`,
    )
    expect(check.body.verified).toBe(true)
  })

  it('ADD-21 the locker is open, so the signed request in next_step succeeds', async () => {
    const { text } = await signFor(await walletOn(family, testbed.chains), testbed.url, { tags: ['cat'] })
    const { body } = await pay(testbed.url, text, {})
    const { locker_id: lockerId, receipt_id: receiptId, next_step: next } = body
    expect(next).toMatchObject({ method: 'POST', ops: ['locker:write'], signer: WALLETS[family] })
    const { pathname: path } = new URL(next.url)
    const owner = ownerOn(family)
    const call = { method: 'POST', path, body: { filename: 'a.txt' }, ops: next.ops, lockerId: lockerId!, receiptId }
    expect([next.signer, next.sig_alg]).toEqual([owner.identity, owner.sigAlg])
    const signed = signCall(owner, call, Date.now())
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...signed.headers } }
    const made = await fetch(testbed.url + path, { ...init, body: signed.body as BodyInit })
    expect(made.status, await made.clone().text()).toBe(200)
    expect(await made.json()).toMatchObject({ filename: 'a.txt', upload_url: expect.any(String) })
    const { db } = testbed.gateway.context.database
    const locker = db.selectFrom('lockers').select(['owner', 'tags']).where('receipt_id', '=', receiptId)
    expect(await locker.executeTakeFirst()).toEqual({ owner: WALLETS[family], tags: '["cat"]' })
  })

  it('ADD-21 a repeated payment opens the locker when its receipt was written without one', async () => {
    const { text } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const first = await pay(testbed.url, text)
    const { db } = testbed.gateway.context.database
    // Simulates a gateway killed between the two writes, or a receipt of an earlier release.
    await writable(db).deleteFrom('lockers').where('receipt_id', '=', first.body.receipt_id).execute()
    const again = await pay(testbed.url, text)
    expect(again.body).toEqual({ ...first.body, idempotent: true })
    const count = db.selectFrom('lockers').select('locker_id').where('receipt_id', '=', first.body.receipt_id)
    expect(await count.execute()).toEqual([{ locker_id: first.body.locker_id }])
  })

  it('T-01 two signatures of one wallet for one quote are one payment, concurrently or in sequence', async () => {
    const client = await walletOn(family, testbed.chains)
    const first = await signFor(client, testbed.url)
    const second = encoded(await client.createPaymentPayload(requiredBy(first)))
    const before = await treasuryUsdc(family, testbed.chains)
    const replies = await Promise.all([pay(testbed.url, first.text), pay(testbed.url, second)])
    replies.push(await pay(testbed.url, second), await pay(testbed.url, first.text))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(replies.map(({ body }) => body.receipt_id)).size).toBe(1)
    expect(await treasuryUsdc(family, testbed.chains)).toBe(before + PRICE)
  })

  it('T-01 ADD-13 only one of two wallets that sign for a quote pays, and only that one gets the receipt', async () => {
    const first = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const other = await walletOn(family, testbed.chains, 2)
    const second = encoded(await other.createPaymentPayload(requiredBy(first)))
    const before = await treasuryUsdc(family, testbed.chains)
    const replies = await Promise.all([pay(testbed.url, first.text), pay(testbed.url, second)])
    replies.push(await pay(testbed.url, first.text), await pay(testbed.url, second))
    const statuses = replies.map(({ status }) => status)
    expect([
      [200, 402, 200, 402],
      [402, 200, 402, 200],
    ]).toContainEqual(statuses)
    const [receipt_id] = new Set(replies.map(({ body }) => body.receipt_id).filter(Boolean))
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expectRefused(reply, 'quote_already_paid')
      expect(JSON.stringify(reply.body)).not.toContain(receipt_id)
    }
    expect(await treasuryUsdc(family, testbed.chains)).toBe(before + PRICE)
  })

  it('T-33 ADD-13 an altered payment of the payer gets no receipt of a paid quote', async () => {
    const { text, payload } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    expect((await pay(testbed.url, text)).status).toBe(200)
    const forged = encoded({ ...payload, payload: altered(payload.payload) })
    expectRefused(await pay(testbed.url, forged), 'quote_already_paid')
  })

  it('PAY-06 a whole call repeated under an Idempotency-Key results in one receipt and one payment', async () => {
    const client = await walletOn(family, testbed.chains)
    const key = { 'idempotency-key': `${family}-purchase` }
    const first = (await (await buyWith(client, testbed.url, { units: 1 }, key)).json()) as Confirmation
    const before = await treasuryUsdc(family, testbed.chains)
    const again = await buyWith(client, testbed.url, { units: 1 }, key)
    expect(again.status).toBe(200)
    expect(await again.json()).toEqual({ ...first, idempotent: true })
    expect(responseIn(again.headers).transaction).toBe(first.receipt.tx_hash)
    expect(await treasuryUsdc(family, testbed.chains)).toBe(before)
    const outsider = await post(testbed.url, { units: 1 }, key)
    expect([outsider.status, JSON.stringify(outsider)]).toEqual([402, expect.not.stringContaining(first.receipt_id)])
    expect((await post(testbed.url, { units: 2 }, key)).status).toBe(409)
  })
})

it('a wallet that prefers USDT pays in USDT', async () => {
  const client = await walletOn('primary', testbed.chains)
  client.registerPolicy((_version, legs) => legs.filter(({ asset }) => asset === MINTS.USDT.mint))
  const response = await buyWith(client, testbed.url)
  expect(await response.json()).toMatchObject({ ok: true, pay_asset: 'USDT' })
})

it('ADD-21 an owner with too many lockers gets the receipt and the required next step', async () => {
  const gateway = await startTestGateway({ ...testbed.chains.variables, MAX_LOCKERS_PER_OWNER: '1' })
  const client = await walletOn('evm', testbed.chains)
  const [first, second] = [await buyWith(client, gateway.url), await buyWith(client, gateway.url)]
  expect(((await first.json()) as X402Purchase).locker_id).toMatch(/^locker_/)
  const { locker_id, receipt, next_step } = (await second.json()) as X402Purchase
  expect([second.status, locker_id, receipt.payer_pubkey]).toEqual([200, null, WALLETS.evm])
  expect(next_step).toMatchObject({ url: expect.stringContaining('/v1/storage/signed_provision') })
  expect(next_step.what).toContain('this owner has 1 lockers')
  await gateway.stop()
})
