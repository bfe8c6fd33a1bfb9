import { FIXTURES, TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { utf8 } from '@svc/protocol/bytes'
import { type Address, bytesToHex, concat, encodeFunctionData, erc20Abi, parseAbi, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addressOf,
  deploy,
  ENOUGH_GAS,
  type Payments,
  payTokens,
  pullTokens,
  startPayments,
  TREASURY,
  USDC_TO_TREASURY,
} from './payments.ts'

const PAYER_UNCLEAR = { outcome: 'rejected', reason: 'payer_unclear' }
const NOTHING_RECEIVED = { outcome: 'rejected', reason: 'nothing_received' }
const TRANSACTION_FAILED = { outcome: 'rejected', reason: 'transaction_failed' }
const OURS = `pr_${'0a'.repeat(16)}`
const NOW = Date.parse('2030-01-01T00:00:00Z')
const USDC = TOKENS.USDC.address

describe('token payments', () => {
  let payments: Payments
  let payer: DevClient
  let other: DevClient
  let relay: DevClient
  beforeAll(async () => {
    payments = await startPayments({ now: () => NOW })
    ;({ payer, other, relay } = payments.people)
  })
  afterAll(() => payments.stop())

  const read = (tx: string, asset: Address = USDC) => payments.reader.read(tx, { ...USDC_TO_TREASURY, asset })

  it('PAY-46 a transfer is found with its payer and amount', async () => {
    const tx = await payTokens(payer, 750_000n)
    expect(await read(tx)).toMatchObject({ outcome: 'found', tx, payer: addressOf(payer), received: 750_000n })
  })

  it('T-22 an amount beyond 2^53 is exact', async () => {
    const value = parseEther('1') + 1n
    const tx = await payTokens(payer, value, TOKENS.WETH.address)
    expect(await read(tx, TOKENS.WETH.address)).toMatchObject({ received: value })
  })

  it('ADD-03 calldata after the call may name the quote', async () => {
    const args = [TREASURY, 750_000n] as const
    const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    const tx = await payer.sendTransaction({ to: USDC, data: concat([call, bytesToHex(utf8(OURS))]) })
    expect(await read(tx)).toMatchObject({ received: 750_000n, references: [OURS] })
  })

  it('AMB-75 a relay that sends a signed authorization is not the payer', async () => {
    const tx = await settleAuthorization(payer, relay, 40n)
    expect((await relay.getTransaction({ hash: tx })).from).toBe(addressOf(relay))
    expect(await read(tx)).toMatchObject({ payer: addressOf(payer), received: 40n })
  })

  it('AMB-75 the owner whose tokens a contract moves is the payer', async () => {
    const tx = await pullTokens(relay, [{ from: payer, to: TREASURY, value: 7n }])
    expect(await read(tx)).toMatchObject({ payer: addressOf(payer), received: 7n })
  })

  it('PAY-46 only the transfers to the treasury count', async () => {
    const tx = await pullTokens(relay, [
      { from: payer, to: TREASURY, value: 5n },
      { from: payer, to: other.account.address, value: 100n },
      { from: payer, to: TREASURY, value: 6n },
    ])
    expect(await read(tx)).toMatchObject({ payer: addressOf(payer), received: 11n })
  })

  it('PAY-50 a transaction with two payers has no payer', async () => {
    const tx = await pullTokens(relay, [
      { from: payer, to: TREASURY, value: 5n },
      { from: other, to: TREASURY, value: 5n },
    ])
    expect(await read(tx)).toEqual(PAYER_UNCLEAR)
  })

  it('PAY-50 a transfer of zero, which anyone can make in any name, does not add a payer', async () => {
    const tx = await pullTokens(relay, [
      { from: other, to: TREASURY, value: 0n },
      { from: payer, to: TREASURY, value: 5n },
    ])
    expect(await read(tx)).toMatchObject({ payer: addressOf(payer), received: 5n })
  })

  it('T-25 tokens that leave the treasury again do not count', async () => {
    const treasury = connectAs(DEV_TREASURY, payments.url)
    await treasury.faucet(TREASURY, 'MON', '1')
    const back = await pullTokens(relay, [
      { from: payer, to: TREASURY, value: 50n },
      { from: treasury, to: other.account.address, value: 30n },
    ])
    expect(await read(back)).toMatchObject({ payer: addressOf(payer), received: 20n })
    expect(await read(await payTokens(treasury, 20n))).toEqual(NOTHING_RECEIVED)
  })

  it('PAY-50 minted tokens have no payer', async () => {
    expect(await read(await payer.faucet(TREASURY, 'USDC', '1'))).toEqual(PAYER_UNCLEAR)
  })

  it('T-25 the events of another contract with the same ticker do not count', async () => {
    const address = await deploy(payer, 'fakeToken')
    const args = [payer.account.address, TREASURY, 750_000n] as const
    const { abi } = FIXTURES.fakeToken
    const tx = await payer.writeContract({ address, abi, functionName: 'emitTransfer', args })
    expect(await read(tx)).toEqual(NOTHING_RECEIVED)
  })

  it('T-25 another token or the native coin is not this token', async () => {
    expect(await read(await payTokens(payer, 5n, TOKENS.USDT0.address))).toEqual(NOTHING_RECEIVED)
    expect(await read(await payer.sendTransaction({ to: TREASURY, value: 5n }))).toEqual(NOTHING_RECEIVED)
  })

  it('PAY-50 a reverted transaction pays nothing', async () => {
    const args = [TREASURY, 10n ** 30n] as const
    const call = { address: USDC, abi: erc20Abi, functionName: 'transfer', args } as const
    expect(await read(await payer.writeContract({ ...call, ...ENOUGH_GAS }))).toEqual(TRANSACTION_FAILED)
  })
})

/** EIP-3009: the payer signs, and anyone may send it. */
async function settleAuthorization(from: DevClient, by: DevClient, value: bigint) {
  const fields = 'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce'
  const types = fields.split(',').map((field) => ({ type: field.split(' ')[0]!, name: field.split(' ')[1]! }))
  const validBefore = BigInt(NOW / 1000 + 60)
  const nonce = `0x${'01'.repeat(32)}` as const
  const message = { from: from.account.address, to: TREASURY, value, validAfter: 0n, validBefore, nonce }
  const signature = await from.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: 143, verifyingContract: USDC },
    types: { TransferWithAuthorization: types },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return by.writeContract({
    address: USDC,
    abi: parseAbi([
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    ]),
    functionName: 'transferWithAuthorization',
    args: [message.from, TREASURY, value, 0n, validBefore, nonce, signature],
  })
}
