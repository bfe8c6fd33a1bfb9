import type { AnchorError } from '@svc/api/attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { isoSeconds } from '@svc/protocol/evidence'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  publicationsOf,
  readTransaction,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { expectFailure, expectSuccess } from './expect-push.ts'
import { DOWN, downFor, forgetfully, muteFor } from './node-faults.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => testbed.node.behave(honestly))

forEachDatabase('a chain that fails', (database) => {
  /** Does not wait for an outcome. */
  let house: LockerHouse
  let patient: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
    patient = await testbed.open({ DATABASE_URL: database.url })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })

  it('ATT-04 AMB-87 VER-06 VER-07 SHAPE-12 a statement that cannot be sent because no node answers is kept, and published later', async () => {
    testbed.node.behave(DOWN)
    const { push_result, attestation, attestation_status } = await attest(house, locker)
    const error = { retryable: true, ambiguous: false, tx_signature: null, at: isoSeconds(testbed.clock.now() / 1000) }
    expect(push_result).toMatchObject({ status: 'failed', anchor: null, reason: 'rpc_unavailable', error })
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: null, last_anchor_error: push_result.error })
    expect(attestation_status).toBe('computed')
    await expectFailure(house, locker, error)
    for (const method of ['getLatestBlockhash', 'simulateTransaction']) {
      testbed.node.behave(downFor(method))
      await expectFailure(house, locker, error)
    }
    expect(await publicationsOf(house, locker)).toEqual([])
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => expectSuccess(patient, locker))).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true])
  })

  it('T-19 ATT-04 after a node has lost a transaction, nothing else is sent until it has expired', async () => {
    testbed.node.behave(forgetfully)
    const { push_result } = await attest(house, locker)
    const tx_signature = push_result.error!.tx_signature!
    const open = { retryable: true, ambiguous: true, tx_signature }
    expect(push_result).toMatchObject({ status: 'failed', reason: 'outcome_unknown', error: open })
    expect(testbed.chain.transaction(tx_signature)).toBeUndefined()
    testbed.clock.advance(30)
    await expectFailure(house, locker, open)
    expect(await publicationsOf(house, locker)).toMatchObject([{ tx: tx_signature, state: 'sent' }])
    testbed.chain.expireBlockhashes()
    testbed.node.behave(honestly)
    testbed.clock.advance(1)
    expect(await transactionsOf(testbed.chain, () => expectSuccess(patient, locker))).toBe(1)
    const [anchor] = await expectAnchors(house, testbed.chain, locker, [true])
    expect(await publicationsOf(house, locker)).toMatchObject([
      { tx: tx_signature, state: 'expired', fee_lamports: null },
      { tx: anchor!.tx, state: 'landed', fee_lamports: 5000, rent_lamports: 0 },
    ])
  })

  it('T-19 a push sends one transaction after the previous one has expired', async () => {
    testbed.node.behave(forgetfully)
    await attest(house, locker)
    testbed.chain.expireBlockhashes()
    const { tx_signature } = await expectFailure(house, locker, { ambiguous: true })
    const states = (await publicationsOf(house, locker)).map(({ tx, state }) => [state, tx === tx_signature])
    expect(states.toSorted()).toEqual([
      ['expired', false],
      ['sent', true],
    ])
  })

  it.each([
    ['sendTransaction', 'getSignatureStatuses'],
    ['getSignatureStatuses'],
    ['getEpochInfo'],
    ['getTransaction'],
  ])(
    'T-19 ATT-04 a sent transaction is found by its signature when %s gave no answer, and nothing more is paid',
    async (...methods) => {
      testbed.node.behave(muteFor(...methods))
      let lost: AnchorError | null = null
      const sent = await transactionsOf(testbed.chain, async () => {
        lost = (await attest(house, locker)).push_result.error
      })
      expect([sent, lost]).toEqual([1, expect.objectContaining({ retryable: true, ambiguous: true })])
      const { tx_signature } = await expectFailure(house, locker, { ambiguous: true })
      expect(readTransaction(testbed.chain, tx_signature!).record.err).toBeNull()
      testbed.node.behave(honestly)
      expect(await transactionsOf(testbed.chain, () => expectSuccess(patient, locker))).toBe(0)
      const [anchor] = await expectAnchors(house, testbed.chain, locker, [true])
      expect(anchor).toMatchObject({ tx: tx_signature, slot: expect.any(Number), fee_lamports: 5000 })
    },
  )

  it('ANCH-04 a node that has not yet indexed the transaction is asked again', async () => {
    testbed.node.behave(withResult('getTransaction', () => null))
    const { error } = (await attest(house, locker)).push_result
    expect(error).toMatchObject({ ambiguous: true })
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => expectSuccess(patient, locker))).toBe(0)
  })

  it('T-19 a node of another chain gets no transaction', async () => {
    testbed.node.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const stranger = await testbed.open({ DATABASE_URL: database.url })
    const asked = testbed.node.calls.length
    const { push_result } = await attest(stranger, locker)
    expect(push_result).toMatchObject({ reason: 'rpc_unavailable', error: { ambiguous: false, tx_signature: null } })
    expect(new Set(testbed.node.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
    testbed.node.behave(honestly)
    await expectSuccess(stranger, locker)
  })
})
