import type { PaymentLeg } from '@svc/api/quote'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UntrueAnswer } from '../../src/errors.ts'
import { amountText, KNOWN_ASSETS, type KnownAsset } from '../../src/money.ts'
import { requireTrueLeg } from '../../src/purchases/quote.ts'

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const EVM = 'eip155:143'
const BITCOIN = '3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh' // a token that a buyer may hold besides USDC
const EVM_TOKEN = '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'

function leg(network: string, asset: string, name: string, decimals: number, amount = '250000'): PaymentLeg {
  const human_amount = amountText(BigInt(amount), decimals)
  const extra = { name, decimals, human_amount, pay_req_id: '', quote_schema: 'svc_quote_v4' } as const
  return { scheme: 'exact', network, amount, asset, payTo: '', maxTimeoutSeconds: 300, extra }
}

const addressOf = (chain: string, name: string) =>
  KNOWN_ASSETS.find(({ network, ticker }) => network === chain && ticker === name)!.address

describe('requireTrueLeg', () => {
  it('PAY-25 accepts known assets under their own names', () => {
    const own = KNOWN_ASSETS.map(({ network, address, ticker, decimals }) => leg(network, address, ticker, decimals))
    for (const known of [...own, leg(EVM, '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC', 6)])
      expect(() => requireTrueLeg(known)).not.toThrow()
  })

  it('accepts unknown assets, which the wallet and the approval check', () => {
    for (const unknown of [leg(PRIMARY, BITCOIN, 'BETA', 0), leg(EVM, EVM_TOKEN, 'USDT0', 6)])
      expect(() => requireTrueLeg(unknown)).not.toThrow()
  })
  it.each([
    ['the coin under the name USDC', leg(PRIMARY, addressOf(PRIMARY, 'SOL'), 'USDC', 9)],
    ['another token under the name USDC', leg(PRIMARY, BITCOIN, 'USDC', 6)],
    ['another token under the name Usdc', leg(PRIMARY, BITCOIN, 'Usdc', 6)],
    ['USDC under the name of a coin', leg(EVM, addressOf(EVM, 'USDC'), 'MON', 6)],
    ['USDC with nine decimals, so that 1000 looks like 1', leg(PRIMARY, addressOf(PRIMARY, 'USDC'), 'USDC', 9)],
    ['an asset with 37 decimals', leg(PRIMARY, BITCOIN, 'BETA', 37)],
  ])('refuses a leg that asks for %s', (_, lie) => {
    expect(() => requireTrueLeg(lie)).toThrow(UntrueAnswer)
  })

  it.each([
    ['amount', '0'],
    ['amount', '1e6'],
    ['amount', '9'.repeat(79)],
    ['decimals', 1.5],
    ['decimals', '6'],
    ['human_amount', '0.01'],
    ['human_amount', undefined],
  ])('refuses a leg whose %s is %s', (field, value) => {
    const { extra, ...rest } = leg(EVM, EVM_TOKEN, 'GOLD', 6)
    const lie =
      field === 'amount' ? { ...rest, amount: value, extra } : { ...rest, extra: { ...extra, [field]: value } }
    expect(() => requireTrueLeg(lie as PaymentLeg)).toThrow(UntrueAnswer)
  })

  it('refuses a leg exactly if its displayed amount differs from the amount it asks for', () => {
    const known = fc.constantFrom(...KNOWN_ASSETS)
    const property = fc.property(known, fc.bigInt(1n, 10n ** 24n), fc.bigInt(1n, 10n ** 24n), showsOnlyWhatItAsks)
    fc.assert(property)
  })
})

function showsOnlyWhatItAsks({ network, address, ticker, decimals }: KnownAsset, asked: bigint, shown: bigint): void {
  const { extra, ...rest } = leg(network, address, ticker, decimals, asked.toString())
  const shownLeg = { ...rest, extra: { ...extra, human_amount: amountText(shown, decimals) } }
  if (asked === shown) requireTrueLeg(shownLeg)
  else expect(() => requireTrueLeg(shownLeg)).toThrow(UntrueAnswer)
}
