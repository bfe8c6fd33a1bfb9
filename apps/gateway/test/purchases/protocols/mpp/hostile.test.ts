import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { type TestGateway, testGatewayOf } from '@svc/devnet/services/test-gateway'
import { Credential } from 'mppx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startX402Testbed, treasuries, type X402Testbed } from '../x402/x402-testbed.ts'
import {
  type ChargeChallenge,
  challengesIn,
  challengesOf,
  evmClient,
  expectProblem,
  PATH,
  payableWith,
  payChallenge,
  send,
  shown,
} from './mpp-testbed.ts'

let testbed: X402Testbed
let shop: TestGateway
beforeAll(async () => {
  testbed = await startX402Testbed({ RATE_LIMITS: 'address=30000/min' })
  shop = testGatewayOf(testbed.gateway)
})
afterAll(() => testbed.stop())

const TX = '3'.repeat(87)

function encoded(value: unknown): string {
  return `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
}

/** The fields of an encoded credential. */
function decoded(header: string): { challenge: Record<string, string>; payload: Record<string, unknown> } {
  return JSON.parse(Buffer.from(header.slice('Payment '.length), 'base64url').toString())
}

async function expectNothingChanged(act: () => Promise<void>): Promise<void> {
  const { db } = testbed.gateway.context.database
  const state = async () => [
    await db.selectFrom('receipts').select('receipt_id').execute(),
    await db.selectFrom('pay_requests').select('pay_req_id').execute(),
    await treasuries(testbed.chains),
  ]
  const before = await state()
  await act()
  expect(await state()).toEqual(before)
}

describe('a credential that cannot be read', () => {
  const cases: [string, string][] = [
    ['text other than base64url', 'Payment ***'],
    ['a key twice', `Payment ${Buffer.from('{"challenge":{},"challenge":{}}').toString('base64url')}`],
    ['a challenge of numbers', encoded({ challenge: { id: 1 }, payload: { type: 'hash' } })],
    ['deep nesting', `Payment ${Buffer.from('['.repeat(2000)).toString('base64url')}`],
    ['a credential that is too long', encoded({ challenge: 'x'.repeat(7_000), payload: {} })],
    ['two credentials', `${encoded({})}, ${encoded({})}`],
    ['an opaque field that is not JSON', encoded({ challenge: challengeOfTexts('***'), payload: { type: 'hash' } })],
  ]

  function challengeOfTexts(opaque: string) {
    return { id: 'a', realm: 'b', method: 'evm', intent: 'charge', request: 'e30', expires: 'now', opaque }
  }

  it.each(cases)('T-100 ADD-47 %s is refused and changes nothing', async (_name, authorization) => {
    await expectNothingChanged(async () => {
      const reply = await send(shop, authorization)
      expectProblem(reply, 'malformed-credential', 'payment_credential_invalid')
      expect(reply.headers.get('www-authenticate')).toBeNull()
    })
  })

  it.each(['Bearer abc', 'Payment'])(
    'T-100 %s is not a payment credential and is answered with a quote',
    async (authorization) => {
      const { status, headers } = await send(shop, authorization)
      expect(status).toBe(402)
      expect(challengesIn(headers).length).toBeGreaterThan(0)
    },
  )
})

describe('a credential for an altered challenge', () => {
  const other = 'pr_00112233445566778899aabbccddeeff'
  const changes: [string, (challenge: Record<string, string>) => Record<string, string>][] = [
    ['another id', (challenge) => ({ ...challenge, id: `${challenge.id}x` })],
    ['another realm', (challenge) => ({ ...challenge, realm: 'shop.example' })],
    ['another method', (challenge) => ({ ...challenge, method: 'evm' })],
    ['a later end', (challenge) => ({ ...challenge, expires: '2099-01-01T00:00:00Z' })],
    ['a smaller amount', (challenge) => ({ ...challenge, request: smaller(challenge.request!) })],
    ['an unknown quote', (challenge) => ({ ...challenge, opaque: opaqueOf(other) })],
  ]

  function opaqueOf(pay_req_id: string): string {
    return Buffer.from(JSON.stringify({ pay_req_id })).toString('base64url')
  }

  function smaller(request: string): string {
    const asked = JSON.parse(Buffer.from(request, 'base64url').toString())
    return Buffer.from(JSON.stringify({ ...asked, amount: '1' })).toString('base64url')
  }

  it.each(changes)('T-100 ADD-47 %s is refused, even though the transaction paid', async (_name, change) => {
    const challenge = payableWith(await challengesOf(shop), 'sol')
    const good = shown(challenge, await payChallenge(testbed.chains, challenge))
    const { challenge: texts, payload } = decoded(good)
    const reply = await send(shop, encoded({ challenge: change(texts), payload }))
    expectProblem(reply, 'invalid-challenge', 'payment_credential_invalid')
    expect(reply.headers.get('www-authenticate')).toBeNull()
    // The original credential can still claim the payment.
    expect((await send(shop, good)).status).toBe(200)
  })

  it('T-100 an order that differs from the quoted one is refused before anything is paid', async () => {
    const challenge = payableWith(await challengesOf(shop), 'sol')
    const reply = await send(shop, shown(challenge, TX), { units: 7 })
    expect([reply.status, reply.body]).toMatchObject([422, { error: 'validation_error' }])
  })
})

describe('a payload', () => {
  const payloads: [string, string, object][] = [
    ['sol', 'a type that is not offered', { type: 'transaction', transaction: 'AQID' }],
    [TOKENS.USDC.address, 'a malformed hash', { type: 'hash', hash: '0x12' }],
    [TOKENS.USDC.address, 'an authorization without fields', { type: 'authorization' }],
  ]

  it.each(payloads)('T-100 is refused for the currency %s when it has %s', async (currency, _name, payload) => {
    const challenge = payableWith(await challengesOf(shop), currency)
    const { challenge: texts } = decoded(shown(challenge, TX))
    expectProblem(
      await send(shop, encoded({ challenge: texts, payload })),
      'invalid-payload',
      'payment_credential_invalid',
    )
  })
})

describe('a payment by someone else', () => {
  it('ADD-47 ADD-03 a transaction that names its quote pays no other', async () => {
    const [mine, theirs] = [await challengesOf(shop), await challengesOf(shop)].map((all) => payableWith(all, 'sol'))
    const tx = await payChallenge(testbed.chains, theirs!)
    const reply = await send(shop, shown(mine!, tx))
    expectProblem(reply, 'verification-failed', 'payment_verification_failed')
    expect(reply.headers.get('www-authenticate')).toBeNull()
    expect((await send(shop, shown(theirs!, tx))).status).toBe(200)
  })

  it('T-100 ADD-47 a transaction pays once, even without a reference', async () => {
    const [first, second] = [await challengesOf(shop), await challengesOf(shop)].map((all) =>
      payableWith(all, TOKENS.USDC.address),
    )
    const tx = await payChallenge(testbed.chains, first!)
    expect((await send(shop, shown(first!, tx))).status).toBe(200)
    expectProblem(await send(shop, shown(second!, tx)), 'verification-failed', 'payment_verification_failed')
  })

  it('T-100 ADD-13 a caller who knows a paid quote but not its transaction gets no receipt', async () => {
    const challenge = payableWith(await challengesOf(shop), 'sol')
    await send(shop, shown(challenge, await payChallenge(testbed.chains, challenge)))
    expectProblem(await send(shop, shown(challenge, TX)), 'verification-failed', 'payment_verification_failed')
  })
})

describe('an authorization', () => {
  async function signed(payer = 1): Promise<{ challenge: ChargeChallenge; header: string }> {
    const { headers } = await shop.send('POST', PATH, { units: 1 }, { 'accept-payment': 'evm/charge' })
    const response = new Response(null, { status: 402, headers })
    const header = await evmClient(payer).createCredential(response)
    return { challenge: payableWith(challengesIn(headers), TOKENS.USDC.address), header }
  }

  it('T-100 ADD-47 is refused without being sent when it was signed for another challenge', async () => {
    const [mine, theirs] = [await signed(), await signed()]
    await expectNothingChanged(async () => {
      const { challenge } = decoded(mine.header)
      const { payload } = decoded(theirs.header)
      const reply = await send(shop, encoded({ challenge, payload }))
      expectProblem(reply, 'invalid-challenge', 'payment_credential_invalid')
    })
  })

  it.each([
    ['value', '1'],
    ['from', `0x${'34'.repeat(20)}`],
    ['signature', `0x${'00'.repeat(65)}`],
  ])('T-100 ADD-47 is refused with another %s, and its own challenge is offered again', async (field, value) => {
    const { header, challenge: asked } = await signed()
    await expectNothingChanged(async () => {
      const { challenge, payload } = decoded(header)
      const reply = await send(shop, encoded({ challenge, payload: { ...payload, [field]: value } }))
      expect([reply.status, reply.body]).toMatchObject([402, { error: 'payment_verification_failed', status: 402 }])
      expect(payableWith(challengesIn(reply.headers), TOKENS.USDC.address).id).toBe(asked.id)
    })
    expect((await send(shop, header)).status).toBe(200)
  })

  it('T-100 ADD-13 gets no receipt of a quote that another wallet has paid', async () => {
    const { challenge, header } = await signed()
    expect((await send(shop, header)).status).toBe(200)
    const response = new Response(null, { status: 402, headers: { 'www-authenticate': serialized(challenge) } })
    const theirs = await evmClient(2).createCredential(response)
    const reply = await send(shop, theirs)
    expectProblem(reply, 'verification-failed', 'payment_verification_failed')
    expect(reply.headers.get('www-authenticate')).toBeNull()
  })

  it('T-100 is refused without being sent for a renewal, whose challenge accepts only transactions', async () => {
    const { body: bought } = await send(shop, (await signed()).header)
    const order = { units: 1, extends: bought.receipt_id }
    const challenge = payableWith(await challengesOf(shop, order), TOKENS.USDC.address)
    const { payload: signature } = decoded((await signed()).header)
    const payload = { ...signature, value: challenge.request.amount, to: challenge.request.recipient }
    await expectNothingChanged(async () => {
      const reply = await send(shop, Credential.serialize({ challenge, payload }), order)
      expectProblem(reply, 'invalid-payload', 'payment_credential_invalid')
    })
  })

  it('T-100 pays once when many copies are sent concurrently', async () => {
    const { header } = await signed()
    const before = await treasuries(testbed.chains)
    const replies = await Promise.all(Array.from({ length: 4 }, () => send(shop, header)))
    const done = await send(shop, header)
    expect(done.status).toBe(200)
    for (const { status, body } of replies) if (status === 200) expect(body.receipt_id).toBe(done.body.receipt_id)
    const after = await treasuries(testbed.chains)
    expect(after[1]! - before[1]!).toBe(BigInt(done.body.paid_raw))
  })
})

function serialized(challenge: ChargeChallenge): string {
  const { id, realm, method, intent, request, expires, opaque } = decoded(shown(challenge, TX)).challenge
  return `Payment id="${id}", realm="${realm}", method="${method}", intent="${intent}", request="${request}", expires="${expires}", opaque="${opaque}"`
}
