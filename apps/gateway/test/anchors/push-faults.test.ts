import type { AnchorError } from '@svc/api/attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { isoSeconds } from '@svc/protocol/evidence'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  readTransaction,
  transactionsOf,
} from './anchor-gateways.ts'
import { expectFailure, expectSuccess } from './expect-push.ts'
import { DOWN, downFor, forgetfully, muteFor } from './node-faults.ts'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

forEachDatabase('a chain that fails', (database) => {
  /** It does not wait: what is not there at once is not known. */
  let house: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await harbour.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })

  it('ATT-04 AMB-87 VER-06 VER-07 SHAPE-12 before anything is sent: the statement exists, and is published later', async () => {
    harbour.node.behave(DOWN)
    const { push_result, attestation, attestation_status } = await attest(house, locker)
    const error = { retryable: true, ambiguous: false, tx_signature: null, at: isoSeconds(harbour.clock.now() / 1000) }
    expect(push_result).toMatchObject({ status: 'failed', anchor: null, reason: 'rpc_unavailable', error })
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: null, last_anchor_error: push_result.error })
    expect(attestation_status).toBe('computed')
    await expectFailure(house, locker, error)
    for (const method of ['getLatestBlockhash', 'simulateTransaction']) {
      harbour.node.behave(downFor(method))
      await expectFailure(house, locker, error)
    }
    expect(await publicationsOf(house, locker)).toEqual([])
    harbour.node.behave(honestly)
    expect(await transactionsOf(harbour.chain, () => expectSuccess(house, locker))).toBe(1)
    await expectAnchors(house, harbour.chain, locker, [true])
  })

  it('T-19 ATT-04 while a transaction is sent: nothing else is sent until it has expired', async () => {
    harbour.node.behave(forgetfully)
    const { push_result } = await attest(house, locker)
    const tx_signature = push_result.error!.tx_signature!
    const open = { retryable: true, ambiguous: true, tx_signature }
    expect(push_result).toMatchObject({ status: 'failed', reason: 'outcome_unknown', error: open })
    expect(harbour.chain.transaction(tx_signature)).toBeUndefined()
    harbour.clock.advance(30)
    await expectFailure(house, locker, open)
    expect(await publicationsOf(house, locker)).toMatchObject([{ tx: tx_signature, state: 'sent' }])
    harbour.chain.expireBlockhashes()
    harbour.node.behave(honestly)
    harbour.clock.advance(1)
    expect(await transactionsOf(harbour.chain, () => expectSuccess(house, locker))).toBe(1)
    const [anchor] = await expectAnchors(house, harbour.chain, locker, [true])
    expect(await publicationsOf(house, locker)).toMatchObject([
      { tx: tx_signature, state: 'expired', fee_lamports: null },
      { tx: anchor!.tx, state: 'finalized', fee_lamports: 5000, rent_lamports: 0 },
    ])
  })

  it('T-19 each push sends one transaction after the one before has expired', async () => {
    harbour.node.behave(forgetfully)
    await attest(house, locker)
    harbour.chain.expireBlockhashes()
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
    ['getBlockHeight'],
    ['getTransaction'],
  ])(
    'T-19 ATT-04 after a transaction was sent (%s): it is found by its signature, and nothing more is paid',
    async (...methods) => {
      harbour.node.behave(muteFor(...methods))
      let lost: AnchorError | null = null
      const sent = await transactionsOf(harbour.chain, async () => {
        lost = (await attest(house, locker)).push_result.error
      })
      expect([sent, lost]).toEqual([1, expect.objectContaining({ retryable: true, ambiguous: true })])
      const { tx_signature } = await expectFailure(house, locker, { ambiguous: true })
      expect(readTransaction(harbour.chain, tx_signature!).record.err).toBeNull()
      harbour.node.behave(honestly)
      expect(await transactionsOf(harbour.chain, () => expectSuccess(house, locker))).toBe(0)
      const [anchor] = await expectAnchors(house, harbour.chain, locker, [true])
      expect(anchor).toMatchObject({ tx: tx_signature, slot: expect.any(Number), fee_lamports: 5000 })
    },
  )

  it('ANCH-04 a node that has not yet indexed the transaction is asked again', async () => {
    harbour.node.behave(withResult('getTransaction', () => null))
    const { error } = (await attest(house, locker)).push_result
    expect(error).toMatchObject({ ambiguous: true })
    harbour.node.behave(honestly)
    expect(await transactionsOf(harbour.chain, () => expectSuccess(house, locker))).toBe(0)
  })

  it('T-19 a node of another chain gets no transaction', async () => {
    harbour.node.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const stranger = await harbour.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
    const asked = harbour.node.calls.length
    const { push_result } = await attest(stranger, locker)
    expect(push_result).toMatchObject({ reason: 'rpc_unavailable', error: { ambiguous: false, tx_signature: null } })
    expect(new Set(harbour.node.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
    harbour.node.behave(honestly)
    await expectSuccess(stranger, locker)
  })
})
