import { ASSETS } from '@svc/api/assets'
import { EVM } from '@svc/api/networks'
import { describe, expect, it } from 'vitest'
import { amountText, KNOWN_ASSETS, knownAsset, knownAssets } from '../src/money.ts'

const EURO = { network: EVM, ticker: 'EURX', decimals: 6, pricing: { by: 'usd' } } as const

describe('known assets', () => {
  it('PAY-25 are those that the gateway declares with an address', () => {
    expect(KNOWN_ASSETS.map(({ network, ticker }) => `${ticker} ${network}`)).toEqual(
      ASSETS.flatMap(({ network, ticker, address }) =>
        typeof address === 'string' ? [`${ticker} ${network.caip2}`] : [],
      ),
    )
  })

  it('PAY-25 PAY-19 are derived from declarations, and EVM addresses match in any case', () => {
    const address = `0x${'Ab'.repeat(20)}`
    const named = { ...EURO, address: null }
    expect(knownAssets([{ ...EURO, address }, named])).toEqual([
      { network: 'eip155:143', ticker: 'EURX', decimals: 6, address: address.toLowerCase() },
    ])
    for (const { network, address: asset } of KNOWN_ASSETS.filter((known) => known.network === EVM.caip2))
      expect(knownAsset({ network, asset: `0x${asset.slice(2).toUpperCase()}` })?.address).toBe(asset)
  })
})

it('PAY-21 an amount is written with the decimals of its asset', () => {
  expect(amountText(25_500_000n, EURO.decimals)).toBe('25.5')
})
