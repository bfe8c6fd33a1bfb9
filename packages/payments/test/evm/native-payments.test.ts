import { FIXTURES, TOKENS } from '@svc/devnet/evm-chain/contracts'
import type { DevClient } from '@svc/devnet/evm-chain/dev-client'
import { utf8 } from '@svc/protocol/bytes'
import { bytesToHex, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addressOf,
  deploy,
  ENOUGH_GAS,
  type Payments,
  payTokens,
  startPayments,
  TO_TREASURY,
  TREASURY,
} from './payments.ts'

const NOTHING_RECEIVED = { outcome: 'rejected', reason: 'nothing_received' }
const TRANSACTION_FAILED = { outcome: 'rejected', reason: 'transaction_failed' }
const OURS = `pr_${'0a'.repeat(16)}`
const NOW = Date.parse('2030-01-01T00:00:00Z')

describe('native payments', () => {
  let payments: Payments
  let payer: DevClient
  beforeAll(async () => {
    payments = await startPayments({ now: () => NOW })
    payer = payments.people.payer
  })
  afterAll(() => payments.stop())

  const read = (tx: string, payTo: string = TREASURY) => payments.reader.read(tx, { ...TO_TREASURY, payTo })

  it('PAY-46 a transfer is found with its payer, amount, block and time', async () => {
    const tx = await payer.sendTransaction({ to: TREASURY, value: parseEther('1.5') })
    const { blockNumber } = await payer.getTransactionReceipt({ hash: tx })
    expect(await read(tx)).toEqual({
      outcome: 'found',
      tx,
      payer: addressOf(payer),
      received: 1_500_000_000_000_000_000n,
      height: Number(blockNumber),
      blockTime: NOW / 1000,
      references: [],
      authorizations: [],
    })
  })

  it('T-22 an amount beyond 2^53 is exact', async () => {
    const value = parseEther('10') + 1n
    expect(await read(await payer.sendTransaction({ to: TREASURY, value }))).toMatchObject({ received: value })
  })

  it('PAY-19 an address matches in any case', async () => {
    const tx = await payer.sendTransaction({ to: TREASURY, value: 5n })
    expect(await read(tx, TREASURY.toLowerCase())).toMatchObject({ received: 5n })
    expect(await read(tx, `0x${TREASURY.slice(2).toUpperCase()}`)).toMatchObject({ received: 5n })
  })

  it('ADD-03 calldata may name the quote', async () => {
    const data = bytesToHex(utf8(OURS))
    const tx = await payer.sendTransaction({ to: TREASURY, value: 5n, data })
    expect(await read(tx)).toMatchObject({ outcome: 'found', references: [OURS] })
  })

  it.each([
    ['to another address', () => payer.sendTransaction({ to: payments.people.other.account.address, value: 5n })],
    ['of nothing', () => payer.sendTransaction({ to: TREASURY, value: 0n })],
    ['into a new contract', () => payer.sendTransaction({ data: FIXTURES.fakeToken.initCode })],
    ['of tokens', () => payTokens(payer, 5n)],
  ])('PAY-50 a transaction %s is not a payment', async (_, send: () => Promise<Hex>) => {
    expect(await read(await send())).toEqual(NOTHING_RECEIVED)
  })

  it('PAY-50 coins that a contract forwards do not count', async () => {
    const address = await deploy(payer, 'forwarder')
    const { abi } = FIXTURES.forwarder
    const tx = await payer.writeContract({ address, abi, functionName: 'forward', args: [TREASURY], value: 12n })
    expect(await read(tx)).toEqual(NOTHING_RECEIVED)
  })

  it('PAY-50 a reverted transaction pays nothing, though it shows the value', async () => {
    const contract = TOKENS.USDC.address
    const tx = await payer.sendTransaction({ to: contract, value: 7n, ...ENOUGH_GAS })
    expect((await payer.getTransaction({ hash: tx })).value).toBe(7n)
    expect(await read(tx, contract)).toEqual(TRANSACTION_FAILED)
  })
})
