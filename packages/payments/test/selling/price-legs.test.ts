import { EVM } from '@svc/api/networks'
import { expect, it } from 'vitest'
import { configuredLegs, type Leg } from '../../src/legs.ts'
import type { Rates } from '../../src/prices/price-oracle.ts'
import { watchMarket } from '../../src/selling/price-legs.ts'
import { DEFAULT_ASSETS } from '../configured-assets.ts'

const SETTINGS = { treasuries: new Map([[EVM, `0x${'ab'.repeat(20)}`]]), assets: DEFAULT_ASSETS }
const rate = (usd: string) => ({ usd, source: 'oracle' as const, as_of: '2026-09-01T12:00:00Z', fallback: false })

it('PAY-27 PAY-28 the market is the same object until a leg or a rate changes', async () => {
  let legs: Leg[] = await configuredLegs(SETTINGS)
  let rates: Rates = { SOL: rate('150'), MON: rate('0.03'), ETH: null }
  const market = watchMarket(async () => [...legs], {
    rates: async () => ({ ...rates }),
    missing: () => [],
    states: () => [],
  })
  const first = await market()
  expect(first).toEqual({ legs, rates })
  expect(await market()).toBe(first)
  rates = { ...rates, ETH: rate('3000') }
  const second = await market()
  expect(second).toEqual({ legs, rates })
  legs = legs.slice(1)
  const third = await market()
  expect(third).toEqual({ legs, rates })
  expect(await market()).toBe(third)
})
