import {
  type Address,
  type Base64EncodedWireTransaction,
  createSolanaRpc,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  type Signature,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { call, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

describe('the time of the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  let payer: KeyPairSigner
  beforeEach(async () => {
    running = await startTestChain()
    running.chain.hold()
    payer = await signerOf(DEMO_PAYERS[0]!)
  })
  afterEach(() => running.stop())

  const transfer = (destination: Address, amount: bigint) =>
    getTransferSolInstruction({ source: payer, destination, amount })
  const pay = (amount: bigint) => transfer(TREASURY.address, amount)

  /** Without waiting. */
  async function post(instruction: Instruction): Promise<Signature> {
    const { rpc } = running
    const wire = getBase64EncodedWireTransaction(await sign(rpc, payer, [instruction]))
    return rpc.sendTransaction(wire, { encoding: 'base64' }).send()
  }

  const statusOf = async (signature: Signature) => (await running.rpc.getSignatureStatuses([signature]).send()).value[0]

  it('lands a transaction in the next slot, and takes it from processed to confirmed to finalized', async () => {
    const { rpc, clock } = running
    const signature = await post(pay(1n))
    const seen = async (commitment: 'confirmed' | 'finalized') =>
      (await rpc
        .getTransaction(signature, { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 })
        .send()) !== null
    const passes = async (milliseconds: number) => {
      clock.time += milliseconds
      return [(await statusOf(signature))?.confirmationStatus, await seen('confirmed'), await seen('finalized')]
    }
    expect(await passes(399)).toEqual([undefined, false, false])
    expect(await passes(1)).toEqual(['processed', false, false])
    expect(await passes(399)).toEqual(['processed', false, false])
    expect(await passes(1)).toEqual(['confirmed', true, false])
    expect(await passes(12_399)).toEqual(['confirmed', true, false])
    expect(await passes(1)).toEqual(['finalized', true, true])
  })

  it('moves by a slot between two requests, but not after a transaction was sent', async () => {
    running.chain.resume()
    const signature = await post(pay(1n))
    const seen: unknown[] = []
    while (seen.at(-1) !== 'finalized') seen.push((await statusOf(signature))?.confirmationStatus)
    expect(seen).toEqual([undefined, 'processed', ...Array(31).fill('confirmed'), 'finalized'])
  })

  it('puts transactions that wait at the same time into one slot, and lists them in their order', async () => {
    const sent = [await post(pay(1n)), await post(pay(2n)), await post(pay(3n))]
    running.chain.settle()
    const slots = await Promise.all(sent.map(async (signature) => (await statusOf(signature))?.slot))
    expect(new Set(slots).size).toBe(1)
    const list = async (config: object) =>
      (await running.rpc.getSignaturesForAddress(TREASURY.address, config).send()).map(({ signature }) => signature)
    expect(await list({})).toEqual(sent.toReversed())
    expect(await list({ before: sent[2] })).toEqual([sent[1], sent[0]])
    expect(await list({ until: sent[0] })).toEqual([sent[2], sent[1]])
    expect(await list({ before: '1'.repeat(64) })).toEqual([])
    expect(await list({ until: '1'.repeat(64) })).toHaveLength(3)
  })

  it('goes back with a fork, after which transactions land in other slots, or only when they are sent again', async () => {
    const { rpc, chain } = running
    const [moved, gone] = [await post(pay(1n)), await post(pay(2n))]
    chain.resume()
    while ((await statusOf(gone))?.confirmationStatus !== 'confirmed');
    const held = async () => (await rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()).value
    const [slot, balance, record] = [(await statusOf(moved))!.slot, await held(), chain.transaction(gone)!]
    chain.fork({ drop: [gone] })
    expect(await statusOf(moved)).toBeNull()
    chain.settle()
    expect((await statusOf(moved))?.slot).toBeGreaterThan(slot)
    expect([await statusOf(gone), await held()]).toEqual([null, balance - 2n])
    await rpc.sendTransaction(record.wire as Base64EncodedWireTransaction, { encoding: 'base64' }).send()
    chain.settle()
    expect([(await statusOf(gone))?.err, await held()]).toEqual([null, balance])
    chain.fork()
    expect(await held()).toBe(balance)
  })

  it('has nodes on a fork that still show moved transactions in their old slots', async () => {
    const { rpc, chain } = running
    const node = createSolanaRpc((await running.startNode({ isOnFork: true })).url)
    const signature = await post(pay(1n))
    running.clock.time += 800
    const read = { encoding: 'base64', maxSupportedTransactionVersion: 0 } as const
    const slotAt = async (at: typeof rpc) => (await at.getTransaction(signature, read).send())?.slot ?? null
    const before = await slotAt(rpc)
    chain.fork()
    expect([await slotAt(rpc), await slotAt(node)]).toEqual([null, before])
    chain.settle()
    expect(await slotAt(rpc)).toBeGreaterThan(before!)
    expect(await slotAt(node)).toBe(before)
  })

  it('does not allow getTransaction at the commitment processed', async () => {
    const answer = await call(running.url, 'getTransaction', ['1'.repeat(64), { commitment: 'processed' }])
    expect(answer.error).toEqual({ code: -32602, message: 'Method does not support commitment below `confirmed`' })
  })

  it('determines which balances, accounts and slots each commitment shows', async () => {
    const { rpc, clock } = running
    const wallet = await generateKeyPairSigner()
    const give = async (amount: bigint) => {
      await post(transfer(wallet.address, amount))
      clock.time += 400
    }
    const balances = async () => {
      const read = async (commitment: 'processed' | 'confirmed' | 'finalized') =>
        Number((await rpc.getBalance(wallet.address, { commitment }).send()).value)
      return [await read('processed'), await read('confirmed'), await read('finalized')]
    }
    await give(1_000_000n)
    expect(await balances()).toEqual([1_000_000, 0, 0])
    await give(2_000_000n)
    expect(await balances()).toEqual([3_000_000, 1_000_000, 0])
    clock.time += 12_400
    expect(await balances()).toEqual([3_000_000, 3_000_000, 1_000_000])
    await give(3_000_000n)
    expect(await balances()).toEqual([6_000_000, 3_000_000, 3_000_000])

    const slots = await Promise.all(
      (['processed', 'confirmed', 'finalized'] as const).map((commitment) => rpc.getSlot({ commitment }).send()),
    )
    expect(slots[0]! > slots[1]! && slots[1]! > slots[2]!).toBe(true)
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

  it('limits getSignatureStatuses to recent transactions unless the request searches the history', async () => {
    const { rpc, clock } = running
    const signature = await post(pay(1n))
    clock.time += 61_000
    expect((await rpc.getSignatureStatuses([signature]).send()).value).toEqual([null])
    const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
    expect(value[0]?.confirmationStatus).toBe('finalized')
  })
})
