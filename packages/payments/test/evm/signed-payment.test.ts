import { EVM } from '@svc/api/networks'
import { type Hex, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { inspectEvmPayment, transferCall } from '../../src/evm/signed-payment.ts'

const account = privateKeyToAccount(`0x${'0d'.repeat(32)}`)
const LEG = {
  asset: EVM.nativeAsset,
  payTo: `0x${'ee'.repeat(20)}`,
  amount: 5n,
  ticker: 'MON',
  decimals: 18,
  payReqId: `pr_${'ab'.repeat(16)}`,
}
const CALL = { ...transferCall(LEG), chainId: EVM.chainId, nonce: 7, gas: 60_000n }
const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }
const outcomeOf = async (raw: string) => (await inspectEvmPayment(EVM, raw, [LEG])).outcome

describe('a signed transaction', () => {
  it.each([
    { gasPrice: 9n, type: 'legacy' },
    { gasPrice: 9n, type: 'eip2930' },
    { ...fees, type: 'eip1559' },
  ] as const)('pays as $type', async (how) => {
    const raw = await account.signTransaction({ ...CALL, ...how })
    expect(await inspectEvmPayment(EVM, raw, [LEG])).toEqual({ outcome: 'payment', tx: keccak256(raw), raw })
  })

  it('T-129 T-130 is malformed with more bytes behind it, and with a zero before a number', async () => {
    const raw = await account.signTransaction({ ...CALL, ...fees })
    expect(await outcomeOf(`${raw}00`)).toBe('malformed')
    expect(await outcomeOf(longerNonce(raw))).toBe('malformed')
    expect(await outcomeOf('0x')).toBe('malformed')
  })

  it('is another one where it pays another amount', async () => {
    expect(await outcomeOf(await account.signTransaction({ ...CALL, ...fees, value: 6n }))).toBe('other')
  })
})

/** The nonce 7, which follows the chain id 143, in two bytes. The list has a length of one byte. */
function longerNonce(raw: Hex): string {
  const length = Number.parseInt(raw.slice(6, 8), 16) + 2
  const longer = raw.slice(8).replace('818f07', '818f820007')
  return `${raw.slice(0, 6)}${length.toString(16)}${longer}`
}
