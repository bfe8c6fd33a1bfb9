import { hash } from 'node:crypto'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { isReceiptSignedBy, signReceipt } from '@svc/protocol/receipt'
import { statementSigner } from '@svc/testbed/statement-signer'
import { followedKeys, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { receiptFacts } from '@svc/verifier/receipt-facts'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noteOfReceipt } from '../../src/continuity/entries.ts'
import { recordLostReceipt } from '../../src/continuity/store.ts'
import { announceKey } from '../../src/operations/keys/announce-key.ts'
import { rotateKey } from '../../src/operations/keys/rotate-key.ts'
import { buy, expectError, type Market, openMarket, payReqId, type Shop } from './market.ts'

let market: Market
let database: FreshDatabase
let shop: Shop
let primary: Awaited<ReturnType<typeof buy>>
let evm: Awaited<ReturnType<typeof buy>>
beforeAll(async () => {
  market = await openMarket()
  database = await createFreshDatabase('postgres')
  shop = await market.open({ DATABASE_URL: database.url })
  primary = await buy(market, shop, { units: 3, pay_network: 'primary-mainnet', pay_asset: 'USDC' })
  evm = await buy(market, shop, { units: 1, pay_network: 'evm-mainnet' })
})
afterAll(async () => {
  await market.close()
  await database.drop()
})

describe('GET /v1/receipts/{receipt_id}', () => {
  it('RCPT-01 RCPT-04 RCPT-05 RCPT-06 RCPT-13 SHAPE-07 AMB-16 AMB-42 AMB-90 GET /v1/receipts/{id} answers a receipt of the primary chain', async () => {
    const { status, headers, body } = await shop.get(`/v1/receipts/${primary.receipt_id}`)
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      receipt_id: primary.receipt_id,
      pay_req_id: payReqId(primary.quote),
      proof_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      paid_amount: '0.75',
      paid_raw: '750000',
      received_raw: '750000',
      pay_asset: 'USDC',
      network: 'primary-mainnet',
      slot: expect.toSatisfy(Number.isInteger),
      sig_alg: 'ed25519',
      tx_hash: primary.tx,
      payer_pubkey: DEMO_PAYERS[0]!.address,
      units: 3,
      confirmed_at: '2026-09-01T12:00:00Z',
      result_hash: '',
      receipt_sig: expect.stringMatching(/^[0-9a-f]{128}$/),
      receipt_signer_pubkey: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(body).toEqual(primary.receipt)
  })

  it('RCPT-04 RCPT-05 RCPT-06 RCPT-13 AMB-16 AMB-75 GET /v1/receipts/{id} answers a receipt of the EVM chain', async () => {
    const { body } = await shop.get<SignedReceipt>(`/v1/receipts/${evm.receipt_id}`)
    expect(body).toMatchObject({
      network: 'evm-mainnet',
      pay_asset: 'MON',
      block_number: expect.toSatisfy(Number.isInteger),
      sig_alg: 'secp256k1',
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      payer_pubkey: DEV_PAYERS[0]!.address.toLowerCase(),
      paid_raw: evm.quote.accepts[0]!.amount,
      paid_amount: evm.quote.accepts[0]!.extra.human_amount,
      result_hash: '',
      receipt_sig: expect.stringMatching(/^[0-9a-f]{128}$/),
      receipt_signer_pubkey: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(body).not.toHaveProperty('slot')
    expect(body).toEqual(evm.receipt)
  })

  it('RCPT-02 HEAD /v1/receipts/{id} answers the same headers without the body', async () => {
    const url = `${shop.gateway.url}/v1/receipts/${primary.receipt_id}`
    // Those of the connection are the client's choice, and each error body has its own request id.
    const headersOf = ({ headers }: Response) =>
      Object.fromEntries(
        [...headers].filter(([name]) => !/^(date|connection|keep-alive|x-request-id|content-length)$/.test(name)),
      )
    for (const [at, status] of [
      [url, 200],
      [`${url}0`, 404],
    ] as const) {
      const [get, head] = [await fetch(at), await fetch(at, { method: 'HEAD' })]
      expect([get.status, head.status, await head.text()]).toEqual([status, status, ''])
      expect(headersOf(head)).toEqual(headersOf(get))
      if (status === 200) expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
      expect(Number(get.headers.get('content-length'))).toBe((await get.arrayBuffer()).byteLength)
    }
  })

  it.each([
    'rcpt_0',
    `rcpt_${'0'.repeat(32)}`,
    'RCPT_',
    '%F0%9F%92%B8',
    '..%2F..%2Fetc%2Fpasswd',
    "'%20or%201=1--",
    'a'.repeat(1500),
  ])('RCPT-03 RCPT-08 RCPT-11 an unknown receipt is a 404 everywhere: %s', async (id) => {
    for (const path of ['', '/verify', '/verify-payment'])
      expectError(await shop.get(`/v1/receipts/${id}${path}`), 404, 'receipt_not_found')
  })

  it('RCPT-03 a receipt id with a NUL, which PostgreSQL rejects, is a 422', async () => {
    for (const path of ['', '/verify', '/verify-payment'])
      expectError(await shop.get(`/v1/receipts/%00${path}`), 422, 'validation_error')
  })

  it('T-02 a receipt cannot be read by its transaction or quote', async () => {
    for (const id of [primary.tx, payReqId(primary.quote)])
      expectError(await shop.get(`/v1/receipts/${id}`), 404, 'receipt_not_found')
  })

  it('PAY-52 AMB-15 a receipt id is a hash of quote and transaction', () => {
    for (const { receipt, tx, quote } of [primary, evm]) {
      const id = payReqId(quote)
      expect(id).toMatch(/^pr_[0-9a-f]{32}$/)
      expect(receipt.receipt_id).toBe(`rcpt_${hash('sha256', `svc/receipt-id/v1|${id}|${tx}`).slice(0, 32)}`)
      expect(receiptId(id, tx)).toBe(receipt.receipt_id)
    }
  })
})

describe('the signature of a receipt', () => {
  interface Keys {
    keys: { use: string; public_key_hex: string; key_id: string; status: string }[]
  }

  it('RCPT-07 the key that /v1/keys lists for receipts signs every field but the legacy one', async () => {
    const { keys } = (await shop.get<Keys>('/v1/keys')).body
    const listed = keys.find(({ use, status }) => use === 'receipt' && status === 'active')
    for (const { receipt } of [primary, evm]) {
      expect(receipt.receipt_signer_pubkey).toBe(listed?.public_key_hex)
      const key = ed25519PublicKeyFromHex(listed!.public_key_hex)!
      expect(isReceiptSignedBy(key, receipt)).toBe(true)
      const signed = Object.keys(receipt).filter(
        (field) => !/^(result_hash|receipt_sig|receipt_signer_pubkey)$/.test(field),
      )
      for (const field of signed) expect(isReceiptSignedBy(key, { ...receipt, [field]: 'other' }), field).toBe(false)
    }
  })

  it('RCPT-08 SHAPE-08 GET …/verify answers that a receipt is valid, and what is needed to repeat the check', async () => {
    const { status, body } = await shop.get<{ signed_message_hex: string }>(`/v1/receipts/${primary.receipt_id}/verify`)
    const { receipt_signer_pubkey, receipt_sig } = primary.receipt
    expect(status).toBe(200)
    expect(body).toEqual({
      receipt_id: primary.receipt_id,
      valid: true,
      checks: { receipt_exists: true, signature_valid: true, receipt_id_matches: true },
      signer_pubkey: receipt_signer_pubkey,
      key_id: `ed25519:${receipt_signer_pubkey.slice(0, 16)}`,
      signed_message_hex: expect.stringMatching(/^5356435f524543454950545f563100[0-9a-f]{64}$/),
      receipt: primary.receipt,
    })
    const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)!
    expect(key.verify(fromHex(body.signed_message_hex)!, fromHex(receipt_sig)!)).toBe(true)
  })

  it.each([
    ['paid_raw', '1', { receipt_exists: true, signature_valid: false, receipt_id_matches: true }],
    ['pay_req_id', 'pr_other', { receipt_exists: true, signature_valid: false, receipt_id_matches: false }],
  ])('RCPT-08 GET …/verify detects a stored receipt whose %s was changed', async (field, value, checks) => {
    expect(await verified({ ...evm.receipt, [field]: value })).toMatchObject({ valid: false, checks })
  })

  it('RCPT-08 T-38 GET …/verify does not believe a key because it stands in the receipt', async () => {
    const forger = ed25519Signer(new Uint8Array(32).fill(66))
    const forged = signReceipt({ ...evm.receipt, payer_pubkey: 'a stranger' }, forger)
    const checks = { receipt_exists: true, signature_valid: false, receipt_id_matches: true }
    expect(await verified(forged)).toMatchObject({ valid: false, checks, signer_pubkey: toHex(forger.publicKey) })
  })

  it('RCPT-08 ADD-07 a retired key holds for receipts of its period, and for no others', async () => {
    const { context } = shop.gateway
    const retired = ed25519Signer(new Uint8Array(32).fill(67))
    const period = { valid_from: '2026-03-01T00:00:00Z', valid_to: '2026-05-01T00:00:00Z' }
    const row = { public_key_hex: toHex(retired.publicKey), ...period }
    await context.database.db.insertInto('signing_keys').values(row).execute()
    const isValid = async (confirmed_at: string, signer = retired) =>
      ((await verified(signReceipt({ ...evm.receipt, confirmed_at }, signer))) as { valid: boolean }).valid
    expect(await isValid('2026-04-01T00:00:00Z')).toBe(true)
    expect(await isValid('2026-05-01T00:05:00Z')).toBe(true)
    expect(await isValid('2026-06-01T00:00:00Z')).toBe(false)
    expect(await isValid('2026-09-01T12:00:00Z')).toBe(false)
    expect(await isValid('2026-04-01T00:00:00Z', statementSigner(context))).toBe(false)
    await context.database.db.deleteFrom('signing_keys').where('public_key_hex', '=', row.public_key_hex).execute()
    expect(await isValid('2026-04-01T00:00:00Z')).toBe(false)
  })

  /** The answer about the receipt of the EVM purchase while this one is stored in its place. */
  async function verified(stored: object): Promise<unknown> {
    const { db } = shop.gateway.context.database
    const store = (receipt: object) =>
      db
        .updateTable('receipts')
        .set({ receipt: JSON.stringify(receipt) })
        .where('receipt_id', '=', evm.receipt_id)
        .execute()
    await store(stored)
    const { body } = await shop.get(`/v1/receipts/${evm.receipt_id}/verify`)
    await store(evm.receipt)
    return body
  }
})

describe('a receipt that the database has lost, made again after the key was rotated', () => {
  const seeds = ['71', '72'].map((byte) => byte.repeat(32)) as [string, string]
  const [oldKey, newKey] = seeds.map((seed) => toHex(ed25519Signer(fromHex(seed, 32)!).publicKey)) as [string, string]
  let own: FreshDatabase
  beforeAll(async () => {
    own = await createFreshDatabase('sqlite')
  })
  afterAll(() => own.drop())

  /** As in a database that was set back, once its operator has accepted the loss. */
  async function lose({ gateway }: Shop, receipt: SignedReceipt) {
    await gateway.context.database.db.transaction().execute(async (tx) => {
      for (const table of ['receipts', 'uncounted_receipts'] as const)
        await tx.deleteFrom(table).where('receipt_id', '=', receipt.receipt_id).execute()
      await tx.deleteFrom('payment_transactions').where('tx', '=', receipt.tx_hash).execute()
      await recordLostReceipt(tx, noteOfReceipt(receipt, null), 0)
    })
  }

  /** By the gateway, and by a client that pinned its list of keys. */
  async function expectValid(of: Shop, receipt: SignedReceipt) {
    expect((await of.get(`/v1/receipts/${receipt.receipt_id}/verify`)).body).toMatchObject({ valid: true })
    const pinned = readPinnedKeys(JSON.stringify((await of.get('/v1/keys')).body))
    if (!pinned.ok) throw new Error(pinned.problem)
    const followed = followedKeys({ pinnedKeys: pinned.keys }, null)
    const bundle = { facts: {} as VerifiedBundle['facts'], key: null, envelope: null, receiptId: null, followed }
    expect(receiptFacts(receipt, bundle)).toMatchObject({
      receipt_signature_valid: { value: 'passed' },
      receipt_id_matches: { value: 'passed' },
      receipt_key_pinned: { value: 'passed' },
    })
  }

  it('T-159 is the same by the key of its time, and dated now where only the new key is left', async () => {
    const variables = { DATABASE_URL: own.url, STATEMENT_KEY: seeds[0] }
    const both = await market.open({ ...variables, STATEMENT_KEY_NEXT: seeds[1] })
    const { context } = both.gateway
    const { quote, tx, receipt } = await buy(market, both)
    const order = { publicKeyHex: newKey, start: 0, reason: 'once a year' }
    await announceKey(context, { identity: 'test' }, order)
    market.clock.advance(3600)
    await rotateKey(context, { identity: 'test' }, { reason: 'once a year', early: true, unendorsed: false })
    await lose(both, receipt)
    const confirmIn = async (open: Shop) => {
      const { status, body } = await open.confirm({ pay_req_id: payReqId(quote) }, tx)
      expect(status, JSON.stringify(body)).toBe(200)
      return body.receipt
    }
    const same = await confirmIn(both)
    expect(same).toEqual(receipt)
    expect(same.receipt_signer_pubkey).toBe(oldKey)
    await expectValid(both, same)
    await lose(both, receipt)
    await both.stop()

    const renewed = await market.open({ ...variables, STATEMENT_KEY: seeds[1] })
    const later = await confirmIn(renewed)
    const { receipt_id, proof_id, tx_hash } = receipt
    const confirmed_at = isoSeconds(Math.floor(market.clock.now() / 1000))
    expect(later).toMatchObject({ receipt_id, proof_id, tx_hash, confirmed_at, receipt_signer_pubkey: newKey })
    await expectValid(renewed, later)
    await renewed.stop()
  })
})

it('PAY-56 neither confirming again, reading, checking nor any other method changes or removes a receipt', async () => {
  const path = `/v1/receipts/${primary.receipt_id}`
  await shop.confirm({ pay_req_id: payReqId(primary.quote) }, primary.tx)
  await shop.get(`${path}/verify`)
  await shop.get(`${path}/verify-payment`)
  for (const method of ['PUT', 'POST', 'PATCH', 'DELETE'])
    expect((await fetch(shop.gateway.url + path, { method })).status).toBe(405)
  market.clock.advance(3650 * 86_400)
  expect((await shop.get(path)).body).toEqual(primary.receipt)
})
