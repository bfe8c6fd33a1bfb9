import { type Behaviour, type FaultyNode, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { expectError, type Market, openMarket, payReqId } from '@svc/devnet/services/market'
import { openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

type Chain = 'primary' | 'evm'
const CHAINS: readonly Chain[] = ['primary', 'evm']

let market: Market
let shop: TestGateway
const lines: string[] = []
const nodes: Record<Chain, FaultyNode[]> = { primary: [], evm: [] }
beforeAll(async () => {
  market = await openMarket()
  for (const chain of CHAINS)
    nodes[chain] = await Promise.all([1, 2, 3].map(() => startFaultyNode(market.chains[chain].url)))
  const urls = (chain: Chain) => nodes[chain].map(({ url }) => url).join(',')
  const quorum = { RPC_QUORUM: 'primary=2,evm=2', PRIMARY_RPC_URLS: urls('primary') }
  const write = (line: string) => void lines.push(line)
  const log = createLog('warn', { write, writeSoon: write, flush: () => {} })
  const variables = { ...market.chains.variables, ...quorum, EVM_RPC_URLS: urls('evm') }
  shop = await openTestGateway(variables, { clock: market.clock, log })
})
afterAll(async () => {
  await shop.close()
  await market.close()
  await Promise.all(Object.values(nodes).flatMap((all) => all.map((node) => node.stop())))
})

interface SolanaTransaction {
  meta: { postBalances: number[]; err: unknown }
  blockTime: number
}

/** Lies about a payment of one atomic unit: that it is larger, that it failed or that it is missing. */
const LIES: Record<Chain, { rich: Behaviour; failed: Behaviour; missing: Behaviour }> = {
  primary: {
    rich: withResult('getTransaction', (result: SolanaTransaction) => {
      const [payer = 0, ...others] = result.meta.postBalances
      const postBalances = [payer, ...others.map((lamports, i) => lamports + (i === 0 ? 1e12 : 0))]
      return { ...result, meta: { ...result.meta, postBalances } }
    }),
    failed: withResult('getTransaction', (result: SolanaTransaction) => ({
      ...result,
      meta: { ...result.meta, err: { InstructionError: [0, 'InvalidArgument'] } },
    })),
    missing: withResult('getTransaction', () => null),
  },
  evm: {
    rich: withResult('eth_getTransactionByHash', (result: object) => ({ ...result, value: '0xffffffffffffffffffff' })),
    failed: withResult('eth_getTransactionReceipt', (result: object) => ({ ...result, status: '0x0' })),
    missing: withResult('eth_getTransactionReceipt', () => null),
  },
}

describe.each(CHAINS)('a quorum of two of three nodes of the %s chain', (chain) => {
  beforeEach(() => {
    for (const node of nodes[chain]) node.behave(honestly)
    lines.length = 0
  })

  async function paid(amount?: bigint) {
    const quote = await shop.quote({ units: 1, pay_network: `${chain}-mainnet` })
    const tx = await market.pay(quote.accepts[0]!, { ...(amount && { amount }) })
    return { tx, confirm: () => shop.confirm({ pay_req_id: payReqId(quote) }, tx) }
  }

  it('T-45 a single lying node cannot sell a locker for nothing', async () => {
    const { confirm, tx } = await paid(1n)
    for (const liar of nodes[chain]) {
      for (const node of nodes[chain]) node.behave(node === liar ? LIES[chain].rich : honestly)
      expectError(await confirm(), 402, 'payment_verification_failed', 'amount_too_small')
    }
    const { db } = shop.gateway.context.database
    expect(await db.selectFrom('receipts').selectAll().where('tx', '=', tx).execute()).toEqual([])
  })

  it.each(['rich', 'failed', 'missing', 'silent'] as const)(
    'T-45 a single lying node (%s) prevents neither a sale nor the verification of its payment',
    async (lie) => {
      const [liar] = nodes[chain]
      const { confirm } = await paid()
      liar!.behave(lie === 'silent' ? () => null : LIES[chain][lie])
      const { status, body } = await confirm()
      expect([status, body.idempotent]).toEqual([200, false])
      const check = await shop.send('GET', `/v1/receipts/${body.receipt_id}/verify-payment`)
      expect(check.body).toMatchObject({ verified: true })
    },
  )

  it('T-45 nothing is decided while no two nodes agree, and the log and the metrics report it', async () => {
    const { confirm } = await paid()
    const network = `${chain}-mainnet`
    const counted = async (outcome: string) => {
      const text = await (await fetch(`${shop.gateway.url}/metrics`)).text()
      const line = `svc_payment_readings_total{network="${network}",outcome="${outcome}"} `
      return Number(
        text
          .split('\n')
          .find((one) => one.startsWith(line))
          ?.slice(line.length),
      )
    }
    const [first, second, third] = nodes[chain]
    const before = [await counted('disputed'), await counted('unavailable')]
    first!.behave(LIES[chain].rich)
    second!.behave(LIES[chain].failed)
    expectError(await confirm(), 503, 'chain_unavailable')
    expect(lines.join()).toContain(' against ')
    for (const node of [first, second]) node!.behave(() => ({ status: 500, body: '' }))
    expectError(await confirm(), 503, 'chain_unavailable')
    expect([await counted('disputed'), await counted('unavailable')]).toEqual(before.map((count) => count + 1))
    third!.behave(honestly)
    second!.behave(honestly)
    expect((await confirm()).status).toBe(200)
  })
})
