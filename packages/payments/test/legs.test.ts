import { ASSETS } from '@svc/api/assets'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import { describe, expect, it } from 'vitest'
import { chooseLegs, configuredLegs, notInQuote } from '../src/legs.ts'
import { DEFAULT_ASSETS } from './configured-assets.ts'

const WALLET = 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'
const ADDRESS = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
const both = new Map<Network, string>([
  [PRIMARY, WALLET],
  [EVM, ADDRESS],
])
const defaults = { treasuries: both, assets: DEFAULT_ASSETS }

describe('configured legs', () => {
  it('PAY-25 are in table order, without assets that have no address', async () => {
    const legs = await configuredLegs(defaults)
    expect(legs.map(({ of }) => of)).toEqual(ASSETS.filter(({ address }) => typeof address === 'string'))
    const addressed = ASSETS.map((of) => ({ of, address: of.network === PRIMARY ? WALLET : ADDRESS }))
    const all = await configuredLegs({ ...defaults, assets: addressed })
    expect(all.map(({ of }) => of)).toEqual(ASSETS)
  })

  it('PAY-04 a network without a treasury accepts no payments', async () => {
    const legs = await configuredLegs({ ...defaults, treasuries: new Map([[EVM, ADDRESS]]) })
    expect(legs).not.toEqual([])
    for (const { of } of legs) expect(of.network).toBe(EVM)
  })

  it('PAY-18 PAY-19 tokens of the primary chain are paid to a token account, all other assets to the treasury', async () => {
    for (const { of, asset, payTo, wallet } of await configuredLegs(defaults)) {
      expect(wallet).toBe(both.get(of.network))
      expect(payTo === wallet, of.ticker).toBe(of.network === EVM || asset === PRIMARY.nativeAsset)
    }
  })
})

describe('choosing legs', () => {
  const chosen = async (choice: object) => {
    const result = chooseLegs(await configuredLegs(defaults), choice)
    return result.outcome === 'chosen'
      ? result.legs.map(({ of }) => `${of.ticker} ${of.network.family}`)
      : result.outcome
  }

  it('PAY-04 PAY-05 accepts a network, an asset, both or neither, in any case and by older names', async () => {
    expect(await chosen({})).toHaveLength((await configuredLegs(defaults)).length)
    for (const leg of await chosen({ pay_network: 'eip155:143' })) expect(leg).toMatch(/ evm$/)
    expect(await chosen({ pay_asset: 'usdc' })).toEqual(['USDC solana', 'USDC evm'])
    expect(await chosen({ pay_network: 'primary-devnet', pay_asset: 'SOL' })).toEqual(['SOL solana'])
  })

  it('PAY-48 rejects what is unknown or not offered', async () => {
    expect(await chosen({ pay_network: 'bitcoin' })).toBe('unknown_network')
    expect(await chosen({ pay_network: 'evm-mainnet', pay_asset: 'USDT' })).toBe('not_offered')
    expect(notInQuote({ pay_network: 'evm-mainnet', pay_asset: 'weth' }, 'x')).toBe('WETH on evm-mainnet not in quote')
  })
})
