import { describe, expect, it } from 'vitest'
import { chainCheck, EVM, NETWORKS, networkNamed, PRIMARY } from '../src/networks.ts'

/** What is sold on: family, name, CAIP-2 id, settings, check in /health. No other test repeats this list. */
const ON_THE_WIRE = [
  ['solana', 'primary-mainnet', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'PRIMARY', 'primary_chain'],
  ['evm', 'evm-mainnet', 'eip155:143', 'EVM', 'evm_chain'],
]

describe('networks', () => {
  it('PAY-16 PAY-32 are these, in this order', () => {
    const declared = NETWORKS.map((one) => [one.family, one.name, one.caip2, one.settings, chainCheck(one)])
    expect(declared).toEqual(ON_THE_WIRE)
  })

  it('PAY-05 PAY-32 a friendly name, a CAIP-2 id or an old test name gives a mainnet', () => {
    for (const text of ['primary-mainnet', PRIMARY.caip2, 'primary-devnet', 'primary-testnet']) {
      expect(networkNamed(text)).toBe(PRIMARY)
    }
    for (const text of ['evm-mainnet', 'eip155:143', 'evm-devnet', 'evm-testnet']) {
      expect(networkNamed(text)).toBe(EVM)
    }
  })

  it.each(['', 'primary', 'Primary-Mainnet', 'eip155:1', 'eip155:0143', 'solana', 'constructor', '__proto__'])(
    'PAY-05 "%s" names no network',
    (text) => {
      expect(networkNamed(text)).toBeNull()
    },
  )
})
