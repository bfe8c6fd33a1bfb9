import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { call, send, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

describe('the time of the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  let payer: KeyPairSigner
  beforeEach(async () => {
    running = await startTestChain()
    payer = await signerOf(DEMO_PAYERS[0]!)
  })
  afterEach(() => running.stop())

  const pay = (amount: bigint) => getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount })

  it('takes a transaction from processed to confirmed to finalized', async () => {
    const { rpc, clock } = running
    const signature = await send(rpc, payer, [pay(1n)])
    const status = async () => (await rpc.getSignatureStatuses([signature]).send()).value[0]?.confirmationStatus
    const seen = async (commitment: 'confirmed' | 'finalized') =>
      (await rpc
        .getTransaction(signature, { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 })
        .send()) !== null

    expect([await status(), await seen('confirmed'), await seen('finalized')]).toEqual(['processed', false, false])
    clock.time += 399
    expect([await status(), await seen('confirmed'), await seen('finalized')]).toEqual(['processed', false, false])
    clock.time += 1
    expect([await status(), await seen('confirmed'), await seen('finalized')]).toEqual(['confirmed', true, false])
    clock.time += 1_600
    expect([await status(), await seen('confirmed'), await seen('finalized')]).toEqual(['finalized', true, true])
  })

  it('does not allow getTransaction at the commitment processed', async () => {
    const { signatures } = await sign(running.rpc, payer, [pay(1n)])
    expect(Object.keys(signatures)).toHaveLength(1)
    const answer = await call(running.url, 'getTransaction', ['1'.repeat(64), { commitment: 'processed' }])
    expect(answer.error).toEqual({ code: -32602, message: 'Method does not support commitment below `confirmed`' })
  })

  it('determines which balances, accounts and slots each commitment shows', async () => {
    const { rpc, clock } = running
    const wallet = await generateKeyPairSigner()
    const give = (amount: bigint) =>
      send(rpc, payer, [getTransferSolInstruction({ source: payer, destination: wallet.address, amount })])
    const balances = async () => {
      const read = async (commitment: 'processed' | 'confirmed' | 'finalized') =>
        Number((await rpc.getBalance(wallet.address, { commitment }).send()).value)
      return [await read('processed'), await read('confirmed'), await read('finalized')]
    }
    await give(1_000_000n)
    expect(await balances()).toEqual([1_000_000, 0, 0])
    clock.time += 400
    await give(2_000_000n)
    expect(await balances()).toEqual([3_000_000, 1_000_000, 0])
    clock.time += 1_600
    expect(await balances()).toEqual([3_000_000, 3_000_000, 1_000_000])
    clock.time += 400
    await give(3_000_000n)
    expect(await balances()).toEqual([6_000_000, 3_000_000, 3_000_000])

    const slots = await Promise.all(
      (['processed', 'confirmed', 'finalized'] as const).map((commitment) => rpc.getSlot({ commitment }).send()),
    )
    expect(slots[0]! > slots[1]! && slots[1]! > slots[2]!).toBe(true)
  })

  it('gives each transaction its own slot, and adds a block every 400 ms', async () => {
    const { rpc, clock } = running
    const at = async () => [
      await rpc.getSlot({ commitment: 'processed' }).send(),
      await rpc.getBlockHeight({ commitment: 'processed' }).send(),
    ]
    const [slot, height] = await at()
    await send(rpc, payer, [pay(1n)])
    await send(rpc, payer, [pay(2n)])
    expect(await at()).toEqual([slot! + 2n, height])
    clock.time += 4_000
    expect(await at()).toEqual([slot! + 12n, height! + 10n])
  })

  it('is the clock that programs read', async () => {
    running.clock.time += 86_400_000
    const { rpc } = running
    const clockAddress = 'SysvarC1ock11111111111111111111111111111111'
    const answer = await call(running.url, 'getAccountInfo', [
      clockAddress,
      { encoding: 'base64', commitment: 'processed' },
    ])
    const { value } = answer.result as { value: { data: [string, string] } }
    const data = Buffer.from(value.data[0], 'base64')
    expect(data.readBigUInt64LE(0)).toBe(await rpc.getSlot({ commitment: 'processed' }).send())
    expect(Number(data.readBigInt64LE(32))).toBe(Math.floor(running.clock.time / 1_000))
  })

  it('does not go back when the clock does', async () => {
    const before = await running.rpc.getSlot({ commitment: 'processed' }).send()
    running.clock.time -= 3_600_000
    expect(await running.rpc.getSlot({ commitment: 'processed' }).send()).toBe(before)
    running.chain.advanceTime(7_200_000)
    expect(await running.rpc.getSlot({ commitment: 'processed' }).send()).toBe(before + 9_000n)
  })

  it('limits getSignatureStatuses to recent transactions unless the request searches the history', async () => {
    const { rpc, clock } = running
    const signature = await send(rpc, payer, [pay(1n)])
    clock.time += 61_000
    expect((await rpc.getSignatureStatuses([signature]).send()).value).toEqual([null])
    const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
    expect(value[0]?.confirmationStatus).toBe('finalized')
  })

  it('makes requests fail with -32016 until the chain reaches their minContextSlot', async () => {
    const slot = Number(await running.rpc.getSlot({ commitment: 'processed' }).send())
    const answer = await call(running.url, 'getBalance', [TREASURY.address, { minContextSlot: slot + 1 }])
    expect(answer.error?.code).toBe(-32016)
  })
})
