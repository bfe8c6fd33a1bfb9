import { EVM } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must } from '@svc/devnet/properties/rules'
import { type Hex, keccak256, parseTransaction, serializeTransaction, type TransactionSerialized } from 'viem'
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

  it('T-129 is malformed with bytes after its end, and with a zero before a number', async () => {
    const raw = await account.signTransaction({ ...CALL, ...fees })
    expect(await outcomeOf(`${raw}00`)).toBe('malformed')
    expect(await outcomeOf(longerNonce(raw))).toBe('malformed')
    expect(await outcomeOf('0x')).toBe('malformed')
  })

  it('is rejected when it pays another amount', async () => {
    expect(await outcomeOf(await account.signTransaction({ ...CALL, ...fees, value: 6n }))).toBe('other')
  })
})

it('T-129 no made-up input breaks the rules of EVM transactions', async () => {
  const token = { ...LEG, asset: `0x${'cc'.repeat(20)}`, ticker: 'USDC', decimals: 6 }
  const call = { ...CALL, ...transferCall(token) }
  const signed = await Promise.all([
    account.signTransaction({ ...CALL, gasPrice: 9n, type: 'legacy' }),
    account.signTransaction({ ...call, gasPrice: 9n, type: 'eip2930' }),
    account.signTransaction({ ...call, ...fees }),
  ])
  expect(
    await problemWith({
      examples: [...signed.map((raw) => Buffer.from(raw.slice(2), 'hex')), signed[0]],
      words: ['\u0002', '\u0080', '\u0000', '0x', 'f8', 'b8', 'c0', '80'],
      maxBytes: 8192,
      async rule(input) {
        for (const raw of [`0x${input.toString('hex')}`, latin1(input)]) {
          const inspected = await inspectEvmPayment(EVM, raw, [LEG, token])
          must(inspected.outcome === 'payment' || !signed.includes(raw as Hex), 'rejects a signed payment')
          checkInspected(inspected)
        }
      },
    }),
  ).toBeNull()
})

function checkInspected(inspected: Awaited<ReturnType<typeof inspectEvmPayment>>): void {
  if (inspected.outcome !== 'payment') return
  must(inspected.tx === keccak256(inspected.raw as Hex), 'names another transaction')
  const { r, s, v, yParity, ...fields } = parseTransaction(inspected.raw as TransactionSerialized)
  const signature = { r: r!, s: s!, ...(v === undefined ? { yParity: yParity! } : { v }) }
  must(
    serializeTransaction(fields as never, signature as never) === inspected.raw,
    'accepts bytes that no chain accepts',
  )
}

/** The nonce 7, which follows the chain id 143, in two bytes. The list has a length of one byte. */
function longerNonce(raw: Hex): string {
  const length = Number.parseInt(raw.slice(6, 8), 16) + 2
  const longer = raw.slice(8).replace('818f07', '818f820007')
  return `${raw.slice(0, 6)}${length.toString(16)}${longer}`
}
