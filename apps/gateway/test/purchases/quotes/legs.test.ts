import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { startFaultyNode } from '@svc/devnet/faulty-node'
import { MINTS } from '@svc/devnet/primary-chain/dev-accounts'
import { createLog } from '@svc/http-service/log'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectError, type Market, openMarket, type Shop, shopOf, WITHOUT_EVM, WITHOUT_PRIMARY } from '../market.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
})
afterAll(() => market.close())

const PRIMARY_LEGS = ['SOL', 'USDC', 'USDT', 'WETH', 'BETA'].map((ticker) => `${ticker} primary`)
const EVM_LEGS = ['MON', 'USDC', 'USDT0', 'WETH'].map((ticker) => `${ticker} evm`)

/** By these ids alone, so that a leg on any other network shows. */
const NETWORKS: Record<string, string> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'primary',
  'eip155:143': 'evm',
}

async function legsOf(seller: Shop, choice: object) {
  const { accepts } = await seller.quote({ units: 1, ...choice })
  return accepts.map(({ network, extra }) => `${extra.name} ${NETWORKS[network] ?? network}`)
}

describe('which legs a quote covers', () => {
  it('PAY-04 PAY-10 PAY-25 AMB-08 a quote has all legs in table order when the buyer names none', async () => {
    expect(await legsOf(shop, {})).toEqual([...PRIMARY_LEGS, ...EVM_LEGS])
  })

  it.each([
    [{ pay_network: 'primary-mainnet' }, PRIMARY_LEGS],
    [{ pay_network: 'evm-mainnet' }, EVM_LEGS],
    [{ pay_network: 'eip155:143' }, EVM_LEGS],
    [{ pay_network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, PRIMARY_LEGS],
    [{ pay_asset: 'USDC' }, ['USDC primary', 'USDC evm']],
    [{ pay_asset: 'weth' }, ['WETH primary', 'WETH evm']],
    [{ pay_asset: 'MON' }, ['MON evm']],
    [{ pay_network: 'evm-mainnet', pay_asset: 'Usdt0' }, ['USDT0 evm']],
    [{ pay_network: 'primary-mainnet', pay_asset: 'BETA' }, ['BETA primary']],
  ])('PAY-04 AMB-08 a quote for %j has only the legs that match', async (choice, legs) => {
    expect(await legsOf(shop, choice)).toEqual(legs)
  })

  it.each([
    ['primary-devnet', PRIMARY_LEGS],
    ['primary-testnet', PRIMARY_LEGS],
    ['evm-devnet', EVM_LEGS],
    ['evm-testnet', EVM_LEGS],
  ])('PAY-05 AMB-09 the network %s means the mainnet', async (pay_network, legs) => {
    expect(await legsOf(shop, { pay_network })).toEqual(legs)
  })

  it.each(['polygon', 'PRIMARY-MAINNET', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'eip155:1', '', '__proto__'])(
    'AMB-09 an unknown network "%s" is a 422',
    async (pay_network) => {
      const reply = await shop.post('/v1/storage/request', { units: 1, pay_network })
      expectError(reply, 422, 'validation_error')
      expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'pay_network'] }] })
    },
  )

  it.each([
    [{ pay_network: 'evm-mainnet', pay_asset: 'usdt' }, 'USDT on evm-mainnet not in quote'],
    [{ pay_network: 'eip155:143', pay_asset: 'SOL' }, 'SOL on eip155:143 not in quote'],
    [{ pay_network: 'primary-devnet', pay_asset: 'USDT0' }, 'USDT0 on primary-devnet not in quote'],
    [{ pay_asset: 'DOGE' }, 'DOGE on any network not in quote'],
  ])('PAY-48 ERR-05 AMB-09 a network and asset that are not offered are a 400: %j', async (choice, message) => {
    const reply = await shop.post('/v1/storage/request', { units: 1, ...choice })
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message })
  })
})

describe('legs by configuration', () => {
  it('PAY-32 no listing names a test network', async () => {
    const quotes = ['primary-devnet', 'evm-testnet'].map((pay_network) => shop.quote({ units: 1, pay_network }))
    const paths = ['/v1/price', '/v1/price?pay_network=evm-testnet', '/.well-known/svc.json']
    const listings = [
      ...(await Promise.all(quotes)),
      ...(await Promise.all(paths.map(async (path) => (await shop.get(path)).body))),
    ]
    for (const listing of listings) {
      const text = JSON.stringify(listing)
      expect(text).not.toMatch(/devnet|testnet/i)
      const ids = text.match(/"(?:solana|eip155):\w+"/g) ?? []
      expect(ids).not.toEqual([])
      for (const id of ids) expect(Object.keys(NETWORKS)).toContain(JSON.parse(id))
    }
  })

  it('AMB-10 a token leg whose treasury account does not exist is not offered', async () => {
    const seller = await market.open({ PRIMARY_TREASURY: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8' })
    expect(await legsOf(seller, {})).toEqual(['SOL primary', ...EVM_LEGS])
    const choice = { units: 1, pay_network: 'primary-mainnet', pay_asset: 'USDC' }
    const reply = await seller.post('/v1/storage/request', choice)
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message: 'USDC on primary-mainnet not in quote' })
  })

  it('AMB-08 a gateway may sell on one chain only, and does not offer assets without an address', async () => {
    const evmOnly = await market.open({ ...WITHOUT_PRIMARY, EVM_USDT0_CONTRACT: '', EVM_WETH_CONTRACT: '' })
    expect(await legsOf(evmOnly, {})).toEqual(['MON evm', 'USDC evm'])
    const primaryOnly = await market.open({ ...WITHOUT_EVM, BETA_MINT: '' })
    expect(await legsOf(primaryOnly, {})).toEqual(PRIMARY_LEGS.slice(0, 4))
    const reply = await primaryOnly.post('/v1/storage/request', { units: 1, pay_network: 'evm-mainnet' })
    expectError(reply, 400, 'leg_not_in_quote')
  })

  it('a gateway without any leg answers 503 instead of a quote', async () => {
    const closed = await market.open({ ...WITHOUT_PRIMARY, ...WITHOUT_EVM })
    expectError(await closed.post('/v1/storage/request', { units: 1 }), 503, 'chain_unavailable')
  })
})

describe('tokens with other decimals', () => {
  it('T-39 are left out of quotes, and the log and /health say why', async () => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const log = createLog('error', { write, writeSoon: write, flush: () => {} })
    const wrong = { BETA_MINT: MINTS.WETH.mint, EVM_USDT0_CONTRACT: TOKENS.WETH.address }
    const seller = shopOf(
      await startTestGateway({ ...market.chains.variables, ...wrong }, { log, now: market.clock.now }),
    )
    const left = [...PRIMARY_LEGS, ...EVM_LEGS].filter((leg) => !/BETA|USDT0/.test(leg))
    expect(await legsOf(seller, {})).toEqual(left)
    expectError(await seller.post('/v1/storage/request', { units: 1, pay_asset: 'BETA' }), 400, 'leg_not_in_quote')
    const { status, body } = await seller.get<{ warnings: string[] }>('/health')
    expect(status).toBe(200)
    expect(body.warnings).toEqual([
      `BETA on primary-mainnet (${wrong.BETA_MINT}) must have 0 decimals, but the chain says 8: it is left out of quotes`,
      `USDT0 on evm-mainnet (${wrong.EVM_USDT0_CONTRACT}) must have 6 decimals, but the chain says 18: it is left out of quotes`,
    ])
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('"expected":0,"problem":"the chain says 8"')
    await seller.stop()
  })

  it('T-39 a gateway starts while no node answers, and sells tokens once their decimals are read', async () => {
    const node = await startFaultyNode(market.chains.evm.url, () => ({ status: 500, body: '' }))
    const seller = await market.open({ ...WITHOUT_PRIMARY, EVM_RPC_URLS: node.url })
    expect(await legsOf(seller, {})).toEqual(['MON evm'])
    node.behave(async ({ honest }) => ({ body: await honest() }))
    market.clock.advance(5)
    await expect.poll(() => legsOf(seller, {})).toEqual(EVM_LEGS)
    await seller.stop()
    await node.stop()
  })
})
