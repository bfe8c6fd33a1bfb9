import type { ErrorBody } from '@svc/api/errors'
import type { Statements } from '@svc/api/evidence'
import { EVM } from '@svc/api/networks'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type RunningEvmChain, startEvmChain } from '@svc/devnet/evm-chain/start'
import { type FaultyNode, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { expectRefusal, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { createEvmAccount } from '@svc/payments/evm/account'
import type { Address } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { prepareDeployment } from '../../../src/publication/evm-registry/client.ts'
import { ENTRIES } from '../../../src/publication/evm-registry/entries.ts'
import { watch } from '../../../src/publication/publisher.ts'
import { attest } from '../../evidence/attest.ts'
import { filledLocker, useAnchorTestbed } from '../anchor-testbed.ts'
import { DOWN, downFor, muteFor } from '../node-faults.ts'

const OWNER = DEV_PAYERS[0]!
const key = (privateKey: string) => Buffer.from(privateKey.slice(2), 'hex')

describe('statements in the EVM registry', () => {
  const testbed = useAnchorTestbed()
  let evm: RunningEvmChain
  let node: FaultyNode
  let contract: Address
  let instance: TestGateway
  beforeAll(async () => {
    evm = await startEvmChain({ port: 0, now: testbed.clock.now })
    node = await startFaultyNode(evm.url)
    const account = createEvmAccount(EVM, [evm.url], key(OWNER.privateKey))
    const deployment = await prepareDeployment(account)
    await account.send(deployment.raw)
    contract = deployment.contract
    instance = await open()
  })
  afterEach(() => node.behave(honestly))
  afterAll(async () => {
    await node.stop()
    await evm.stop()
  })

  const open = (own = {}) =>
    testbed.open({
      EVM_RPC_URLS: node.url,
      EVM_TREASURY: DEV_TREASURY.address,
      EVM_REGISTRY_CONTRACT: contract,
      EVM_REGISTRY_KEY: OWNER.privateKey,
      ...own,
    })
  const retry = async (body = {}, at = instance) => (await at.send('POST', '/v1/internal/bridge-retry', body)).body
  const entry = async ({ receiptId }: TestLocker, at = instance) =>
    (await at.send<Statements>('GET', `/v1/storage/statements?receipt_id=${receiptId}`)).body.evm_registry
  const onChain = ({ receiptId }: TestLocker) => instance.gateway.context.evmRegistry!.read(receiptId)

  /** Writes all entries. The chain finalizes blocks as time passes. */
  async function writeAll(at = instance): Promise<void> {
    await at.gateway.context.queue.drain()
    testbed.clock.advance(120)
    await retry({}, at)
  }

  it('ADD-14 ANCH-12 entries over the budget wait, and the newest is written when the budget allows', async () => {
    const limited = await open({ RATE_LIMITS: 'anchors=1/hour', ANCHORS: 'off' })
    const locker = await filledLocker(limited)
    await attest(limited, locker)
    await writeAll(limited)
    for (const bytes of ['b', 'c']) {
      await locker.put('a', bytes)
      await attest(limited, locker)
      await limited.gateway.context.queue.drain()
    }
    const waiting = { sequence: 3, state: 'waiting', tx: null, error: 'limit_reached' }
    expect(await entry(locker, limited)).toMatchObject(waiting)
    expect(await retry({}, limited)).toMatchObject({ ok: true, attempted: 0 })
    const { receiptId: receipt_id } = locker
    expect(await retry({ receipt_id }, limited)).toMatchObject({ ok: true, attempted: 1, failed: 0, deferred: 1 })
    testbed.clock.advance(3600)
    await retry({}, limited)
    await writeAll(limited)
    expect(await entry(locker, limited)).toMatchObject({ sequence: 3, state: 'done', error: null })
    // There is no slot without a primary chain.
    expect(await onChain(locker)).toMatchObject({ slot: 0, file_count: 1 })
  })

  it('INT-02 EVT-02 the EVM registry contains the newest published statement with the slot of its anchor', async () => {
    const locker = await filledLocker(instance)
    const first = (await attest(instance, locker)).attestation
    expect(await entry(locker)).toMatchObject({ contract, sequence: 1, state: 'waiting', tx: null, block: null })
    await writeAll()
    const { body } = first.envelope!
    expect(await onChain(locker)).toEqual({
      merkle_root: body.merkle_root,
      slot: first.anchor!.slot,
      file_count: 1,
      attested_at: body.issued_at_unix,
    })
    expect(await entry(locker)).toMatchObject({ state: 'done', block: expect.any(Number), error: null })

    await locker.put('b', 'b')
    const second = (await attest(instance, locker)).attestation
    await writeAll()
    expect(await onChain(locker)).toMatchObject({ merkle_root: second.merkle_root, file_count: 2 })
    expect(await entry(locker)).toMatchObject({ sequence: 2, state: 'done' })
  })

  it('INT-02 INT-05 an entry that cannot be written is a 503, stays visible, and is written by the next attempt', async () => {
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    node.behave(DOWN)
    const { receiptId: receipt_id } = locker
    const refused = await instance.send<ErrorBody>('POST', '/v1/internal/bridge-retry', { receipt_id })
    expectRefusal(refused, 503, 'chain_unavailable')
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body.details).toEqual({ ok: false, attempted: 1, succeeded: 0, failed: 1 })
    expect(await entry(locker)).toMatchObject({ state: 'waiting', error: 'unavailable' })
    node.behave(honestly)
    await writeAll()
    expect(await entry(locker)).toMatchObject({ state: 'done', error: null })
    expect(await retry({ receipt_id })).toEqual({ ok: true, attempted: 0, succeeded: 0, failed: 0 })
    expect(await retry({ receipt_id: 'rcpt_unknown' })).toMatchObject({ attempted: 0 })
  })

  it('T-19 a transaction whose response was lost is found and not sent again', async () => {
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    const count = async () =>
      Number(await evm.chain.request({ method: 'eth_getTransactionCount', params: [OWNER.address, 'latest'] }))
    const before = await count()
    node.behave(muteFor('eth_sendRawTransaction'))
    await writeAll()
    node.behave(downFor('eth_getTransactionReceipt'))
    await writeAll()
    node.behave(honestly)
    await writeAll()
    expect(await count()).toBe(before + 1)
    expect(await entry(locker)).toMatchObject({ state: 'done' })
  })

  it('T-19 INT-02 the watch resends a recorded entry that was lost, and finds it later', async () => {
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    const { context } = instance.gateway
    node.behave(downFor('eth_sendRawTransaction'))
    await context.queue.drain()
    const recorded = await entry(locker)
    expect(recorded).toMatchObject({ state: 'sent', tx: expect.any(String) })
    node.behave(honestly)
    await watch(context, ENTRIES)
    expect(await entry(locker)).toMatchObject({ state: 'sent', tx: recorded!.tx })
    testbed.clock.advance(120)
    await watch(context, ENTRIES)
    expect(await entry(locker)).toMatchObject({ state: 'done', tx: recorded!.tx, error: null })
    expect(await onChain(locker)).toMatchObject({ file_count: 1 })
  })

  it('INT-02 a transaction that fails on chain records its reason with the entry', async () => {
    const locker = await filledLocker(instance)
    const { receiptId: receipt_id } = locker
    await attest(instance, locker)
    node.behave(downFor('eth_getTransactionReceipt'))
    await instance.gateway.context.queue.drain()
    expect(await entry(locker)).toMatchObject({ state: 'sent' })
    const failed = withResult('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, status: '0x0' }))
    const silent = downFor('eth_call')
    node.behave((call) => (call.method === 'eth_call' ? silent(call) : failed(call)))
    expect(await retry({ receipt_id })).toMatchObject({ failed: 1 })
    expect(await entry(locker)).toMatchObject({ state: 'waiting', error: 'refused' })
    node.behave(honestly)
    expect(await retry({ receipt_id })).toMatchObject({ succeeded: 1 })
    expect(await entry(locker)).toMatchObject({ state: 'done', error: null })
  })

  it('INT-05 an entry whose key is not the owner becomes a dead letter with its reason, and not a 5xx', async () => {
    const other = await open({ EVM_REGISTRY_KEY: DEV_PAYERS[1]!.privateKey })
    const locker = await filledLocker(other)
    await attest(other, locker)
    const { queue } = other.gateway.context
    await queue.drain()
    const dead = await queue.deadLetters()
    expect(dead).toMatchObject([{ kind: 'bridge', payload: { receipt_id: locker.receiptId } }])
    expect(await entry(locker, other)).toMatchObject({ state: 'waiting', error: 'not_owner' })
    expect(await retry({ receipt_id: locker.receiptId }, other)).toMatchObject({ ok: false, failed: 1 })
  })
})
