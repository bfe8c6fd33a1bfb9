import type { AttestAnswer } from '@svc/api/attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { attest, queueToAttest } from '../attestations/attest.ts'
import { ed25519Identity, type LockerHouse } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  push,
  readTransaction,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'

const MEMO_V3 = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const DISABLED = { status: 'skipped', anchor: null, anchor_type: null, reason: 'push_disabled', error: null }

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())

forEachDatabase('publishing', (database) => {
  /** One gateway publishes when it attests, the other only on a push. */
  let house: LockerHouse
  let manual: LockerHouse
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url })
    manual = await testbed.open({ DATABASE_URL: database.url, ATTEST_PUSH: 'false' })
  })
  const drain = ({ gateway }: LockerHouse) => gateway.context.queue.drain()

  it('ANCH-01 ANCH-02 ANCH-03 ANCH-04 ANCH-06 ANCH-08 ATT-08 ATT-10 SHAPE-10 attesting writes the statement into one memo', async () => {
    const locker = await house.locker(ed25519Identity())
    await locker.put('secret plan.txt', 'bytes')
    const count = await transactionsOf(testbed.chain, async () => {
      const { push_result, attestation, attestation_status } = await attest(house, locker)
      const { body, statement_digest } = attestation.envelope!
      const payload = {
        dg: statement_digest,
        k: issuerKeyId(toHex(house.gateway.context.signers.statement.publicKey)),
        n: 1,
        pid: body.proof_id,
        root: body.merkle_root.slice('sha256:'.length),
        s: 'svc/anchor/v2',
        seq: 1,
        sid: body.snapshot_id,
        t: body.issued_at_unix,
      }
      const { anchor, ...result } = push_result
      expect(result).toEqual({ status: 'pushed', anchor_type: 'chain_memo_v2', reason: null, error: null })
      const { record, signers, instructions } = readTransaction(testbed.chain, anchor!.tx)
      expect(anchor).toEqual({
        type: 'chain_memo_v2',
        chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        tx: record.signature,
        slot: record.slot,
        block_time: testbed.clock.now() / 1000,
        signer: PUBLICATION.address,
        fee_lamports: 5000,
        commitment: 'confirmed',
        finalized: false,
        statement_digest,
        snapshot_id: body.snapshot_id,
        payload,
        envelope_version: 2,
      })
      expect(attestation).toMatchObject({ anchor, attestation_status: 'complete' })
      expect(attestation_status).toBe('complete')
      expect(signers).toEqual([PUBLICATION.address])
      expect(instructions).toEqual([{ program: MEMO_V3, text: JSON.stringify(payload) }])
      const written = Buffer.from(record.wire, 'base64').toString('latin1')
      const { receiptId, lockerId, owner } = locker
      for (const secret of [receiptId, receiptId.slice(5), lockerId, lockerId.slice(5), 'secret plan', owner.identity])
        expect(written).not.toContain(secret)
      await drain(house)
    })
    expect(count).toBe(1)
  })

  it('ATT-10 ATT-11 SHAPE-12 where attesting does not publish, a push does, and a second push costs nothing', async () => {
    const locker = await filledLocker(manual)
    const attested = await transactionsOf(testbed.chain, async () => {
      const { push_result, attestation_status } = await attest(manual, locker)
      expect([push_result, attestation_status]).toEqual([DISABLED, 'computed'])
      await queueToAttest(manual, locker)
      await drain(manual)
    })
    expect(attested).toBe(0)
    const first = await push(manual, locker)
    const [anchor] = await expectAnchors(manual, testbed.chain, locker, [true])
    expect(first).toEqual({
      ok: true,
      receipt_id: locker.receiptId,
      status: 'pushed',
      anchor,
      anchor_type: 'chain_memo_v2',
      reason: null,
      error: null,
      attestation_status: 'complete',
    })
    const again = await transactionsOf(testbed.chain, async () =>
      expect(await push(manual, locker)).toEqual({ ...first, status: 'already_anchored' }),
    )
    expect(again).toBe(0)
  })

  it('AMB-33 ATT-10 a statement that is still current is published once when it is attested again', async () => {
    const locker = await filledLocker(house)
    await attest(manual, locker)
    const { unchanged, push_result } = await attest(house, locker)
    expect([unchanged, push_result.status]).toEqual([true, 'pushed'])
    const later = await transactionsOf(testbed.chain, async () => {
      expect((await attest(house, locker)).push_result).toMatchObject({ status: 'already_anchored' })
      await queueToAttest(house, locker)
      await drain(house)
    })
    expect(later).toBe(0)
    await expectAnchors(house, testbed.chain, locker, [true])
  })

  it('STATE-09 SHAPE-11 ANCH-11 attesting later publishes later', async () => {
    const locker = await filledLocker(house)
    const count = await transactionsOf(testbed.chain, async () => {
      expect(await queueToAttest(house, locker)).toMatchObject({ attestation_status: 'pending', push_result: null })
      await drain(house)
    })
    expect(count).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true])
    const other = await filledLocker(house)
    await attest(manual, other)
    await queueToAttest(house, other)
    await drain(house)
    await expectAnchors(house, testbed.chain, other, [true])
    expect((await house.gateway.context.queue.counts()).push).toEqual({ waiting: 0, delayed: 0, running: 0, dead: 0 })
  })

  it('FILE-32 ANCH-11 a statement made after a confirmation is published', async () => {
    const reattesting = await testbed.open({ DATABASE_URL: database.url, AUTO_REATTEST: 'true' })
    const locker = await filledLocker(reattesting)
    testbed.clock.advance(2)
    await drain(reattesting)
    await expectAnchors(reattesting, testbed.chain, locker, [true])
    await locker.put('b', 'b')
    testbed.clock.advance(2)
    await drain(reattesting)
    await expectAnchors(reattesting, testbed.chain, locker, [true, true])
  })

  it('INT-01 SHAPE-41 the operator decides each time whether a statement is published', async () => {
    const ask = async (of: LockerHouse, receipt_id: string, choice: object) =>
      (await of.send<AttestAnswer>('POST', '/v1/internal/attest', { receipt_id, force: true, ...choice })).body
    const locker = await filledLocker(house)
    const { receiptId } = locker
    expect((await ask(house, receiptId, { push: false })).push_result).toEqual(DISABLED)
    expect((await ask(manual, receiptId, {})).push_result).toEqual(DISABLED)
    expect((await ask(manual, receiptId, { push: true })).push_result).toMatchObject({ status: 'pushed' })
    expect((await ask(house, receiptId, {})).push_result).toMatchObject({ status: 'pushed' })
    await drain(house)
    await expectAnchors(house, testbed.chain, locker, [false, false, true, true])
  })
})
