// Signed transactions of the EVM chain.

import { EVM } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must } from '@svc/devnet/properties/rules'
import { type Hex, keccak256, parseTransaction, serializeTransaction, type TransactionSerialized } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { inspectEvmPayment, transferCall } from '../../src/evm/signed-payment.ts'

const account = privateKeyToAccount(`0x${'0d'.repeat(32)}`)
const PAY_REQ_ID = `pr_${'ab'.repeat(16)}`
const PAY_TO = `0x${'ee'.repeat(20)}`
const NATIVE = { asset: EVM.nativeAsset, payTo: PAY_TO, amount: 5n, ticker: 'MON', decimals: 18, payReqId: PAY_REQ_ID }
const TOKEN = { ...NATIVE, asset: `0x${'cc'.repeat(20)}`, ticker: 'USDC', decimals: 6 }
const LEGS = [NATIVE, TOKEN]

it('T-129 T-130 no made-up input breaks the rules of EVM transactions', async () => {
  const common = { chainId: EVM.chainId, nonce: 7, gas: 60_000n }
  const signed = await Promise.all([
    account.signTransaction({ ...common, ...transferCall(NATIVE), gasPrice: 9n, type: 'legacy' }),
    account.signTransaction({ ...common, ...transferCall(TOKEN), gasPrice: 9n, type: 'eip2930' }),
    account.signTransaction({ ...common, ...transferCall(TOKEN), maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }),
  ])
  expect(
    await problemWith({
      examples: [...signed.map((raw) => Buffer.from(raw.slice(2), 'hex')), signed[0]],
      words: ['\u0002', '\u0080', '\u0000', '0x', 'f8', 'b8', 'c0', '80'],
      maxBytes: 8192,
      async rule(input) {
        await checkTransaction(`0x${Buffer.from(input).toString('hex')}`)
        await checkTransaction(latin1(input))
      },
    }),
  ).toBeNull()
})

async function checkTransaction(raw: string): Promise<void> {
  const inspected = await inspectEvmPayment(EVM, raw, LEGS)
  if (inspected.outcome !== 'payment') return
  must(inspected.tx === keccak256(inspected.raw as Hex), 'names another transaction')
  const { r, s, v, yParity, ...fields } = parseTransaction(inspected.raw as TransactionSerialized)
  const signature = { r: r!, s: s!, ...(v === undefined ? { yParity: yParity! } : { v }) }
  must(serializeTransaction(fields as never, signature as never) === inspected.raw, 'takes bytes that no chain takes')
}
