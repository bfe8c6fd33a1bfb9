import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { toBase58 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Agency, openAgency, primaryPayer, type Reply } from '../agent-stack.ts'
import { booked, expectError, legOf, pay, payReqId, startSecondAgent, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
let quote: SubscriptionQuote
let before: Awaited<ReturnType<typeof booked>>
beforeAll(async () => {
  agency = await openAgency()
  till = tillOf(agency.agent)
})
beforeEach(async () => {
  quote = await till.quote()
  before = await booked(agency)
})
afterAll(() => agency.close())

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`
const { identity } = primaryPayer(0)

async function expectNothingBooked(reply: Reply<unknown>, status: number, code: string) {
  expectError(reply, status, code)
  expect(await booked(agency)).toEqual(before)
}

describe('AGENT-03 a confirmation', () => {
  it('without an identity is a 422 that says where, whatever else it holds', async () => {
    for (const given of [null, '', 'me', '0x12', `${identity}, ${identity}`]) {
      const reply = await till.show({ quote, tx: SIGNATURE, identity: given })
      await expectNothingBooked(reply, 422, 'validation_error')
      expect(reply.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Identity'] }] })
    }
  })

  it.each([
    ['no transaction', {}],
    ['an empty one', { 'x402-tx': '' }],
    ['63 bytes', { 'x402-tx': toBase58(new Uint8Array(63).fill(7)) }],
    ['a hash without 0x', { 'x402-tx': HASH.slice(2) }],
  ])('with %s is a 402 tx_required', async (_, headers) => {
    const reply = await till.post({ pay_req_id: payReqId(quote) }, { 'x-svc-identity': identity, ...headers })
    await expectNothingBooked(reply, 402, 'tx_required')
  })

  it('of a quote that there is not, also one of the gateway, is a 404', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
    const storage = await (await fetch(`${agency.gateway.url}/v1/storage/request`, init)).json()
    for (const pay_req_id of ['', 'pr_0', `pr_${'0'.repeat(32)}`, payReqId(storage as SubscriptionQuote)]) {
      const reply = await till.post({ pay_req_id }, { 'x-svc-identity': identity, 'x402-tx': SIGNATURE })
      await expectNothingBooked(reply, 404, 'pay_req_not_found')
    }
  })

  it('of a leg that the quote does not have, or of half a leg, is a 400', async () => {
    const confirm = (leg: object) =>
      till.post({ pay_req_id: payReqId(quote), ...leg }, { 'x-svc-identity': identity, 'x402-tx': SIGNATURE })
    const absent = { pay_network: 'evm-mainnet', pay_asset: 'SOL' }
    await expectNothingBooked(await confirm(absent), 400, 'leg_not_in_quote')
    await expectNothingBooked(await confirm({ pay_asset: 'USDC' }), 400, 'leg_incomplete')
  })

  it('PAY-49 of a transaction that no chain shows is a 402 that says when to come back', async () => {
    const primary = await till.show({ quote, tx: SIGNATURE, identity })
    await expectNothingBooked(primary, 402, 'tx_not_found')
    expect(primary.headers.get('retry-after')).toBe('2')
    const leg = legOf(quote, 'MON', 'evm-mainnet')
    await expectNothingBooked(await till.show({ quote, tx: HASH, identity, leg }), 402, 'tx_not_found')
  })

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a number', '1'],
    ['nothing', ''],
    ['an object for an id', '{"pay_req_id":{}}'],
    ['an id that no database holds', '{"pay_req_id":"\\u0000"}'],
    ['half a character', '{"pay_req_id":"\\ud800"}'],
    ['a name twice', '{"pay_req_id":"a","pay_req_id":"b"}'],
    ['a transaction that is no text', '{"pay_req_id":"a","tx_sig":7}'],
    ['deep nesting', `{"pay_req_id":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('with %s for a body is a 422', async (_, body) => {
    const reply = await till.post(body, { 'x-svc-identity': identity, 'x402-tx': SIGNATURE })
    await expectNothingBooked(reply, 422, 'validation_error')
  })

  it('T-10 comes only so often from a stranger, unless it is paid', async () => {
    const payer = primaryPayer(3)
    const tx = await pay(agency, quote.accepts[0]!, payer)
    expect((await till.show({ quote, tx, identity: payer.identity })).status).toBe(200)
    const other = await till.quote()
    const limited = await startSecondAgent(agency, { RATE_LIMIT_ADDRESS: '2' })
    onTestFinished(() => limited.stop())
    const statuses = []
    for (let i = 0; i < 4; i++)
      statuses.push((await tillOf(limited).show({ quote: other, tx: SIGNATURE, identity })).status)
    expect(statuses).toEqual([402, 402, 429, 429])
    expect((await tillOf(limited).show({ quote, tx, identity: payer.identity })).status).toBe(200)
  })
})
