import type { Confirmation, Quote } from '@svc/api/purchases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { payReqId } from '@svc/devnet/services/market'
import { type TestGateway, testGatewayOf } from '@svc/devnet/services/test-gateway'
import { lockerId } from '@svc/protocol/ids'
import { Credential, Receipt } from 'mppx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startX402Testbed, treasuryUsdc, type X402Testbed } from '../x402/x402-testbed.ts'
import {
  type ChargeChallenge,
  challengesIn,
  challengesOf,
  evmClient,
  ordering,
  PATH,
  payableWith,
  payChallenge,
  send,
  shown,
  solanaClient,
} from './mpp-testbed.ts'

// The clock is real, because stock clients check when a challenge expires.
let testbed: X402Testbed
let shop: TestGateway
beforeAll(async () => {
  testbed = await startX402Testbed()
  shop = testGatewayOf(testbed.gateway)
})
afterAll(() => testbed.stop())

function receiptIn(response: { headers: Headers }) {
  return Receipt.deserialize(response.headers.get('payment-receipt') ?? '')
}

describe('a stock client', () => {
  it('T-100 ADD-47 pays on the primary chain from the challenge alone and gets its receipt', async () => {
    const response = await solanaClient(testbed.chains).fetch(shop.gateway.url + PATH, ordering({ units: 2 }))
    const body = (await response.json()) as Confirmation
    expect(response.status, JSON.stringify(body)).toBe(200)
    expect(body.receipt).toMatchObject({ units: 2, pay_asset: 'SOL', payer_pubkey: DEMO_PAYERS[1]!.address })
    expect(receiptIn(response)).toMatchObject({ method: 'solana', status: 'success', reference: body.receipt.tx_hash })
  })

  it('T-100 ADD-47 signs for USDC on the EVM chain, and the gateway sends the payment', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const response = await evmClient().fetch(shop.gateway.url + PATH, ordering())
    const body = (await response.json()) as Confirmation
    expect(response.status, JSON.stringify(body)).toBe(200)
    const payer_pubkey = DEV_PAYERS[1]!.address.toLowerCase()
    expect(body.receipt).toMatchObject({ units: 1, pay_asset: 'USDC', network: 'evm-mainnet', payer_pubkey })
    // The locker is opened, as at the x402 endpoint.
    expect(body.locker_id).toBe(lockerId(body.receipt_id))
    expect(receiptIn(response)).toMatchObject({ method: 'evm', reference: body.receipt.tx_hash, chainId: 143 })
    expect((await treasuryUsdc('evm', testbed.chains)) - before).toBe(BigInt(body.paid_raw))
  })
})

/** Base58 of 64 bytes. */
const ANOTHER_TRANSACTION = '1'.repeat(64)

describe('a credential that shows a transaction', () => {
  const choices = [
    { pay_asset: 'SOL' },
    { pay_network: 'primary-mainnet', pay_asset: 'USDC' },
    { pay_network: 'evm-mainnet', pay_asset: 'USDC' },
  ]

  it.each(choices)('T-100 ADD-47 pays with %j and gets the same receipt when repeated', async (choice) => {
    const [challenge] = (await challengesOf(shop, { units: 1, ...choice })) as [ChargeChallenge]
    const credential = shown(challenge, await payChallenge(testbed.chains, challenge))
    const first = await send(shop, credential)
    expect([first.status, first.body]).toMatchObject([200, { ok: true, idempotent: false }])
    const again = await send(shop, credential)
    expect(again).toMatchObject({ status: 200, body: { ...first.body, idempotent: true } })
    expect(receiptIn(again)).toEqual(receiptIn(first))
  })

  it('T-100 is also accepted by the confirmation, whatever X402-TX contains', async () => {
    const quoted = await shop.send<Quote>('POST', PATH, { units: 1 })
    const challenge = payableWith(challengesIn(quoted.headers), 'sol')
    const authorization = shown(challenge, await payChallenge(testbed.chains, challenge))
    const pay_req_id = payReqId(quoted.body)
    const headers = { authorization, 'x402-tx': ANOTHER_TRANSACTION }
    const reply = await shop.send<Confirmation>('POST', '/v1/storage/confirm', { pay_req_id }, headers)
    expect([reply.status, reply.body.receipt?.pay_req_id]).toEqual([200, pay_req_id])
    expect(receiptIn(reply).reference).toBe(reply.body.receipt.tx_hash)
  })

  it('T-100 ADD-47 does not publish anything that leads to the quote', async () => {
    const challenge = payableWith(await challengesOf(shop), 'sol')
    const { pay_req_id } = JSON.parse(Buffer.from(challenge.opaque ?? '', 'base64url').toString())
    expect(pay_req_id).toMatch(/^pr_/)
    const credential = shown(challenge, await payChallenge(testbed.chains, challenge))
    const { headers, body } = await send(shop, credential)
    const receipt = JSON.stringify(receiptIn({ headers }))
    for (const text of [receipt, challenge.id, JSON.stringify(challenge.request)]) {
      expect(text).not.toContain(pay_req_id)
      expect(text).not.toContain(body.receipt_id)
    }
  })
})

it('T-100 ADD-47 an authorization that is sent twice pays once and returns the same receipt', async () => {
  const credentials: string[] = []
  const client = evmClient()
  client.onCredentialCreated(({ credential }) => void credentials.push(credential))
  const first = (await (await client.fetch(shop.gateway.url + PATH, ordering())).json()) as Confirmation
  const before = await treasuryUsdc('evm', testbed.chains)
  const again = await send(shop, credentials[0]!)
  expect(again).toMatchObject({ status: 200, body: { receipt_id: first.receipt_id, idempotent: true } })
  expect(await treasuryUsdc('evm', testbed.chains)).toBe(before)
  expect(Credential.deserialize(credentials[0]!).payload).toMatchObject({ type: 'authorization' })
})
