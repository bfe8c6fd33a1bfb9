import { OUT_OF_ORDER, TAKEN } from '@svc/chains/test/evm/test-chain'
import { withBody, withResult } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { EvmRegistry } from '../../../src/anchors/evm-registry/client.ts'
import type { RegistryEntry } from '../../../src/anchors/evm-registry/entry.ts'
import {
  newEntry,
  newReceipt,
  prepared,
  startTestRegistry,
  type TestRegistry,
  WAIT_MS,
  write,
} from './test-registry.ts'

let test: TestRegistry
beforeAll(async () => {
  test = await startTestRegistry()
})
afterEach(() => test.chain.calm())
afterAll(() => test.stop())

const SEND = 'eth_sendRawTransaction'
const UNAVAILABLE = { name: 'RegistryError', why: 'unavailable' }

describe('a node that does not answer', () => {
  it.each(['eth_call', 'eth_estimateGas', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getBlockByNumber'])(
    'nothing is signed when a node does not answer %s',
    async (method) => {
      test.chain.node.behave(withBody(method, OUT_OF_ORDER))
      await expect(test.owner.prepare(newReceipt(), newEntry())).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('every call is unavailable when no node answers', async () => {
    const { raw, tx } = await prepared(test.owner, newReceipt(), newEntry())
    test.chain.node.behave(() => ({ status: 500, body: '' }))
    const { owner } = test
    const answers = [owner.read(newReceipt()), owner.isOwner(), owner.balance(), owner.outcome({ tx, raw })]
    await Promise.all(answers.map((answer) => expect(answer).rejects.toMatchObject(UNAVAILABLE)))
  })

  it.each([
    ['does not take', OUT_OF_ORDER],
    ['takes and loses', TAKEN],
  ])('a transaction that the node %s stays pending, and lands when it is sent again', async (_name, answer) => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    const { tx, raw } = await prepared(test.owner, receipt, entry)
    test.chain.node.behave(withBody(SEND, answer))
    expect(await test.owner.send(raw)).toBe('sent')
    test.chain.calm()
    expect(await test.owner.outcome({ tx, raw })).toEqual({ outcome: 'pending' })
    expect(await test.owner.read(receipt)).toBeNull()
    expect(await test.owner.send(raw)).toBe('sent')
    expect(await test.owner.watch({ tx, raw }, WAIT_MS)).toMatchObject({ outcome: 'landed' })
    expect(await test.owner.read(receipt)).toEqual(entry)
  })

  it('a transaction that the node took without an answer has landed, and sending it again does nothing', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    const { tx, raw } = await prepared(test.owner, receipt, entry)
    test.chain.node.behave(async ({ method, honest }) => {
      const body = await honest()
      return method === SEND ? { status: 502, body: '' } : { body }
    })
    expect(await test.owner.send(raw)).toBe('sent')
    test.chain.calm()
    expect(await test.owner.send(raw)).toBe('sent')
    expect(await test.owner.watch({ tx, raw }, WAIT_MS)).toMatchObject({ outcome: 'landed' })
    expect(await test.owner.prepare(receipt, entry)).toBe('there_already')
  })

  it('the outcome of a sent transaction is unavailable until a node answers', async () => {
    const { tx, raw } = await write(test.owner, newReceipt(), newEntry())
    test.chain.node.behave(withBody('eth_getTransactionReceipt', OUT_OF_ORDER))
    await expect(test.owner.outcome({ tx, raw })).rejects.toMatchObject(UNAVAILABLE)
    test.chain.node.behave(withResult('eth_getBlockByNumber', () => null))
    await expect(test.owner.outcome({ tx, raw })).rejects.toMatchObject(UNAVAILABLE)
    test.chain.calm()
    expect(await test.owner.watch({ tx, raw }, WAIT_MS)).toMatchObject({ outcome: 'landed' })
  })
})

/** Prepares another transaction when the nonce was taken, as callers do. */
async function writeUntilSent(registry: EvmRegistry, receiptId: string, entry: RegistryEntry): Promise<void> {
  const { raw } = await prepared(registry, receiptId, entry)
  if ((await registry.send(raw)) === 'nonce_taken') await writeUntilSent(registry, receiptId, entry)
}

describe('two writers with one key', () => {
  it('a writer whose nonce was taken by another gets that answer, and its next transaction lands', async () => {
    const [mine, other] = [test.open(test.ownerKey), test.open(test.ownerKey)]
    const [receipt, entry] = [newReceipt(), newEntry()]
    const lost = await prepared(mine, receipt, entry)
    await write(other, newReceipt(), newEntry())
    expect(await mine.send(lost.raw)).toBe('nonce_taken')
    expect(await mine.outcome(lost)).toEqual({ outcome: 'expired' })
    const { tx, raw } = await write(mine, receipt, entry)
    expect(await mine.watch({ tx, raw }, WAIT_MS)).toMatchObject({ outcome: 'landed' })
    expect(await mine.read(receipt)).toEqual(entry)
  })

  it('a transaction that was never sent has expired once its nonce is taken', async () => {
    const { tx, raw } = await prepared(test.open(test.ownerKey), newReceipt(), newEntry())
    await write(test.owner, newReceipt(), newEntry())
    expect(await test.owner.outcome({ tx, raw })).toEqual({ outcome: 'expired' })
  })

  it('two writers with one key write many entries at once, and all land', { tags: ['nightly'] }, async () => {
    const writers = [test.open(test.ownerKey), test.open(test.ownerKey)]
    const entries = Array.from({ length: 8 }, () => [newReceipt(), newEntry()] as const)
    await Promise.all(entries.map(([receipt, entry], i) => writeUntilSent(writers[i % 2]!, receipt, entry)))
    await test.chain.settle()
    for (const [receipt, entry] of entries) expect(await test.owner.read(receipt)).toEqual(entry)
  })

  it('two writers of one receipt leave the newest statement in the registry, in any order', async () => {
    const receipt = newReceipt()
    const statements = [3, 1, 2].map((second) => newEntry({ attested_at: 1_750_000_000 + second }))
    await Promise.allSettled(statements.map((entry) => writeUntilSent(test.open(test.ownerKey), receipt, entry)))
    await test.chain.settle()
    expect(await test.owner.read(receipt)).toEqual(statements[0])
  })
})
