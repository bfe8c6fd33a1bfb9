import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Agency, evmPayer, openAgency, primaryPayer } from '../agency.ts'
import { booked, expectError, legOf, pay, startSecondAgent, type Till, tillOf } from '../subscribers.ts'

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

describe.each([
  ['primary', 'SOL', 'primary-mainnet', primaryPayer(2)],
  ['evm', 'MON', 'evm-mainnet', evmPayer(2)],
] as const)('AMB-86 while the nodes of the %s chain', (chain, ticker, network, payer) => {
  const CLOSED = 'http://127.0.0.1:9'
  const variable = chain === 'evm' ? 'EVM_RPC_URLS' : 'PRIMARY_RPC_URLS'

  async function expectUnknown(rpcUrl: string) {
    const leg = legOf(quote, ticker, network)
    const showing = { quote, tx: await pay(agency, leg, payer), identity: payer.identity, leg }
    const blind = await startSecondAgent(agency, { [variable]: rpcUrl })
    onTestFinished(() => blind.stop())
    const reply = await tillOf(blind).show(showing)
    expectError(reply, 503, 'chain_unavailable')
    expect(await booked(agency)).toEqual(before)
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('do not pay again') })
    const { status, body } = await till.show(showing)
    expect([status, body.idempotent]).toEqual([200, false])
  }

  it('cannot be reached, nothing is decided, and the payment counts later', () => expectUnknown(CLOSED))

  it('say what nobody can read, nothing is decided, and the payment counts later', async () => {
    const node = await startFaultyProxy(agency.chains[chain].url)
    onTestFinished(() => node.stop())
    node.always(/./, { bytes: (bytes) => bytes.subarray(0, bytes.length / 2) })
    await expectUnknown(node.url)
  })
})
