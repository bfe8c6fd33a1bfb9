import type { X402Leg, X402Quote } from '@svc/api/x402'
import { FINALITY_DEPTH } from '@svc/devnet/evm-chain/chain'
import { MULTICALL3, TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { honestly, withBody } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import type { LocalChains } from '@svc/devnet/local-chains'
import { expectError } from '@svc/devnet/services/market'
import { testGatewayOf } from '@svc/devnet/services/test-gateway'
import { blockUsdc, pauseUsdc } from '@svc/devnet/usdc-issuer'
import { writable } from '@svc/devnet/writable'
import type { Variables } from '@svc/service/program/config'
import { createLog } from '@svc/service/program/log'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import {
  type Address,
  concat,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  multicall3Abi,
  numberToHex,
  parseAbi,
  parseSignature,
  stringToHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { findReceiptOfRequest } from '../../../../src/purchases/store.ts'
import { expectPending, payUntilSettled, READ, SEND, startFaultyTestbed, TAKEN } from './faulty-testbed.ts'
import {
  asRequirements,
  encoded,
  expectRefused,
  legOn,
  PRICE,
  pay,
  post,
  responseIn,
  type SignedHeader,
  signedFor,
  signFor,
  treasuryUsdc,
  walletOn,
} from './x402-testbed.ts'

/** The selector of `authorizationState(address,bytes32)`. */
const AUTHORIZATION_STATE = '0xe94a0102'

const testbed = forAllTests(() => startFaultyTestbed())
afterEach(() => testbed.calm())

describe('an authorization of the EVM chain', { shuffle: false }, () => {
  const token = TOKENS.USDC.address
  const abi = parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ])
  interface Signed {
    signature: Hex
    authorization: Record<'value' | 'validAfter' | 'validBefore', string> & { from: Address; to: Address; nonce: Hex }
  }
  const thirdParty = () => connectAs(DEV_PAYERS[3]!, testbed.chains.evm.url)
  const signature = (text: Hex) => {
    const { r, s, yParity } = parseSignature(text)
    return [27 + yParity, r, s] as const
  }

  /** Does some work just before the payment is sent, and lets the payment land immediately afterwards. */
  function beforeSending(work: () => Promise<unknown>, then: typeof honestly = honestly) {
    let first = true
    testbed.nodes.evm.behave(async (asked) => {
      if (asked.method !== SEND.evm || !first) return then(asked)
      first = false
      await work()
      const reply = await then(asked)
      await testbed.chains.evm.chain.settle()
      return reply
    })
  }

  const transfer = (payload: SignedHeader['payload']) => {
    const { signature: signed, authorization } = payload.payload as unknown as Signed
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const amounts = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const
    const args = [from, to, ...amounts, nonce, ...signature(signed)] as const
    return encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args })
  }

  /** Sends calls of the token in one transaction of a third party. */
  function bundle(...calls: Hex[]): Promise<Hex> {
    const all = calls.map((callData) => ({ target: token, allowFailure: false, callData }))
    return thirdParty().writeContract({
      address: MULTICALL3.address,
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [all],
    })
  }

  it('T-10 a repeated call reads only payments of its signer to the treasury', async () => {
    const { url, context } = testbed.gateway
    const headers = { 'idempotency-key': 'repeated' }
    const { body: quote } = await post<X402Quote>(url, { units: 1 }, headers)
    await writable(context.database.db)
      .updateTable('pay_requests')
      .set(({ eb }) => ({ created_at: eb('created_at', '-', 60) }))
      .where('pay_req_id', '=', quote.extensions.svc.info.pay_req_id)
      .execute()
    const leg = asRequirements(legOn('evm', quote))
    const signedBy = async (payer: number, changes: object = {}) => {
      const wallet = await walletOn('evm', testbed.chains, payer)
      return wallet.createPaymentPayload({ ...quote, accepts: [{ ...leg, ...changes }] })
    }
    const elsewhere = await signedBy(2, { payTo: thirdParty().account.address })
    await bundle(transfer(elsewhere))
    const [other, over] = [await signedBy(1), await signedBy(2, { maxTimeoutSeconds: 0 })]
    const { signature: text, authorization } = other.payload as unknown as Signed
    const { from } = (elsewhere.payload as unknown as Signed).authorization
    const forged = { signature: text, authorization: { ...authorization, from } }
    for (const payload of [forged, over.payload]) {
      const { length } = testbed.nodes.evm.calls
      const signature = encoded({ ...other, accepted: leg, payload })
      const { status } = await post(url, { units: 1 }, { ...headers, 'payment-signature': signature })
      expect([status, testbed.nodes.evm.calls.slice(length).includes(READ.evm)]).toEqual([402, false])
    }
  })

  async function expectVerified(receiptId: string) {
    const response = await fetch(`${testbed.gateway.url}/v1/receipts/${receiptId}/verify-payment`)
    expect(await response.json()).toMatchObject({ verified: true, matches: { payer_matches: true } })
  }

  it('T-46 a third party who submits an authorization beside their own payment cannot hide its payer', {
    tags: ['nightly'],
  }, async () => {
    const { text, payload } = await testbed.sign('evm')
    const { from, to } = (payload.payload as unknown as Signed).authorization
    const dust = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 1n] })
    await thirdParty().writeContract({
      address: token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [MULTICALL3.address, 1n],
    })
    let theirs: Hex | undefined
    beforeSending(async () => {
      theirs = await bundle(dust, transfer(payload))
    })
    const { status, body } = await payUntilSettled(testbed.gateway.url, text)
    expect(status, JSON.stringify(body)).toBe(200)
    const paid = { tx_hash: theirs, payer_pubkey: from.toLowerCase(), received_raw: String(PRICE) }
    expect(body.receipt).toMatchObject(paid)
    await expectVerified(body.receipt_id)
  })

  it('T-01 T-46 two customers whose authorizations a third party bundles get one receipt each and no others', {
    tags: ['nightly'],
  }, async () => {
    const { url } = testbed.gateway
    const first = await testbed.sign('evm')
    const second = await signFor(await walletOn('evm', testbed.chains, 2), url)
    testbed.nodes.evm.behave(withBody(SEND.evm, TAKEN.evm))
    expectPending(await pay(url, first.text))
    let theirs: Hex | undefined
    beforeSending(async () => {
      theirs = await bundle(transfer(first.payload), transfer(second.payload))
    })
    const replies = [await payUntilSettled(url, second.text), await payUntilSettled(url, first.text)]
    expect(replies.map(({ status, body }) => [status, body.receipt?.tx_hash, body.receipt?.received_raw])).toEqual([
      [200, theirs, String(PRICE)],
      [200, theirs, String(PRICE)],
    ])
    const payers = [2, 1].map((payer) => DEV_PAYERS[payer]!.address.toLowerCase())
    expect(replies.map(({ body }) => body.receipt.payer_pubkey)).toEqual(payers)
    for (const { body } of replies) await expectVerified(body.receipt_id)
    const again = await Promise.all([first, second].map(({ text }) => pay(url, text)))
    expect(again.map(({ body }) => [body.idempotent, body.receipt_id])).toEqual(
      replies.toReversed().map(({ body }) => [true, body.receipt_id]),
    )
    const thief = await testbed.sign('evm')
    expectError(await confirmFor(thief, theirs!), 402, 'payment_verification_failed')
    const { db } = testbed.gateway.context.database
    const booked = await db.selectFrom('payment_transactions').selectAll().where('tx', '=', theirs!).execute()
    expect(booked).toMatchObject([{ received: String(2n * PRICE), bound: String(2n * PRICE) }])
  })

  it('T-46 a third party who submits an authorization cannot confirm it for their own quote', async () => {
    const { text, payload } = await testbed.sign('evm')
    const thief = await testbed.sign('evm')
    let reply: Awaited<ReturnType<typeof confirmFor>> | undefined
    beforeSending(async () => {
      const named = concat([transfer(payload), stringToHex(thief.payload.accepted.extra.pay_req_id as string)])
      const theirs = await thirdParty().sendTransaction({ to: token, data: named })
      reply = await confirmFor(thief, theirs)
    })
    expect((await payUntilSettled(testbed.gateway.url, text)).status).toBe(200)
    expectError(reply!, 402, 'payment_verification_failed', 'transaction_already_used')
  })

  function confirmFor({ quote }: SignedHeader, tx: string) {
    const leg = legOn('evm', quote)
    const body = { pay_req_id: leg.extra.pay_req_id, pay_network: leg.network, pay_asset: 'USDC' }
    return testGatewayOf(testbed.gateway).confirm(body, tx)
  }

  describe('T-45 a used authorization counts as cancelled only when a final block shows it', () => {
    /** A node that has the newest state but not the newest logs. */
    const withoutLogs: typeof honestly = async (call) => {
      const body = await call.honest()
      if (!call.method.startsWith('eth_getLogs')) return { body }
      const emptied = (answer: { result: unknown }) =>
        Array.isArray(answer.result) ? { ...answer, result: [] } : answer
      const answer = JSON.parse(body)
      return { body: JSON.stringify(Array.isArray(answer) ? answer.map(emptied) : emptied(answer)) }
    }

    it('T-45 a payment submitted by a third party is found although a node lacks its event at first', {
      tags: ['nightly'],
    }, async () => {
      const before = await treasuryUsdc('evm', testbed.chains)
      const { text, payload } = await testbed.sign('evm')
      let theirs: Hex | undefined
      beforeSending(async () => {
        theirs = await thirdParty().sendTransaction({ to: token, data: transfer(payload) })
      }, withoutLogs)
      for (let i = 0; i < 2; i++) expectPending(await pay(testbed.gateway.url, text))
      testbed.calm()
      expect((await payUntilSettled(testbed.gateway.url, text)).body).toMatchObject({ receipt: { tx_hash: theirs } })
      expect(await testbed.paidSince('evm', before)).toBe(PRICE)
    })

    it('T-45 a payment cancelled by its payer stays pending until the block is final', async () => {
      const { text, payload } = await testbed.sign('evm')
      const genesis = await thirdParty().request({ method: 'eth_getBlockByNumber', params: ['0x0', false] })
      await cancelBeforeSending(payload, 1, async (call) => {
        const body = await call.honest()
        if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'finalized') return { body }
        return { body: JSON.stringify({ ...JSON.parse(body), result: genesis }) }
      })
      for (let i = 0; i < 2; i++) expectPending(await pay(testbed.gateway.url, text))
      testbed.calm()
      const refused = await payUntilSettled(testbed.gateway.url, text)
      expectError(refused, 402, 'payment_verification_failed', 'transaction_already_used')
      expect((await payUntilSettled(testbed.gateway.url, await testbed.signAgain('evm', payload))).status).toBe(200)
    })
  })

  it('ADD-02 T-67 a used authorization that did not pay this quote is refused without a new offer', async () => {
    const { url } = testbed.gateway
    const [cancelled, paid, other] = [await testbed.sign('evm'), await testbed.sign('evm'), await testbed.sign('evm')]
    await (await cancelling(cancelled.payload))()
    expectError(
      await payUntilSettled(url, cancelled.text),
      402,
      'payment_verification_failed',
      'transaction_already_used',
    )
    const named = concat([transfer(paid.payload), stringToHex(String(paid.payload.accepted.extra.pay_req_id))])
    await thirdParty().sendTransaction({ to: token, data: named })
    const moved = encoded({ ...paid.payload, accepted: other.payload.accepted })
    expectError(await payUntilSettled(url, moved), 402, 'payment_verification_failed', 'names_another_quote')
    expect((await payUntilSettled(url, paid.text)).status).toBe(200)
  })

  /** Moves all USDC away from a payer just before the payment is sent; returns a function that moves it back. */
  function emptyBeforeSending(payer: number) {
    const wallet = connectAs(DEV_PAYERS[payer]!, testbed.chains.evm.url)
    const keeper = connectAs(DEV_PAYERS[3]!, testbed.chains.evm.url)
    const move = (from: typeof wallet, to: Address, amount: bigint) =>
      from.writeContract({ address: token, abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
    let moved = 0n
    beforeSending(async () => {
      const args = [wallet.account.address] as const
      moved = await wallet.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args })
      await move(wallet, keeper.account.address, moved)
    })
    return () => move(keeper, wallet.account.address, moved)
  }

  describe('T-46 a failed payment whose authorization is still valid', () => {
    const signed = async () => signFor(await walletOn('evm', testbed.chains, 2), testbed.gateway.url)
    const here = () => ({ ...testbed, url: testbed.gateway.url })

    function expectFailed(reply: Awaited<ReturnType<typeof pay>>, reason = 'transaction_failed') {
      expectError(reply, 402, 'payment_verification_failed', reason)
      expect(reply.body).toMatchObject({ details: { valid_until: expect.stringMatching(/Z$/) } })
    }

    it('T-46 is sent again with the same signature, and no other signature is accepted', {
      tags: ['nightly'],
    }, async () => {
      const before = await treasuryUsdc('evm', testbed.chains)
      const { text, payload } = await signed()
      const returnFunds = emptyBeforeSending(2)
      expectFailed(await payUntilSettled(testbed.gateway.url, text))
      const second = await testbed.signAgain('evm', payload)
      expectFailed(await payUntilSettled(testbed.gateway.url, second), 'earlier_payment_open')
      const empty = await payUntilSettled(testbed.gateway.url, text)
      expectError(empty, 402, 'payment_verification_failed', 'insufficient_funds')
      await returnFunds()
      const { status, body } = await payUntilSettled(testbed.gateway.url, text)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(await testbed.paidSince('evm', before)).toBe(PRICE)
    })

    it.each([
      ['has paused it', pauseUsdc],
      ['blocks the payer', (chains: LocalChains) => blockUsdc(chains, DEV_PAYERS[2]!.address)],
    ])('T-46 is refused while the issuer of USDC %s, and succeeds later', async (_, block) => {
      const { url } = testbed.gateway
      const before = await treasuryUsdc('evm', testbed.chains)
      const { text } = await signed()
      let release = await block(testbed.chains)
      const refused = await pay(url, text)
      expectRefused(refused, 'invalid_exact_evm_transaction_simulation_failed')
      expect(refused.body).toMatchObject({ message: expect.stringContaining('paused it or blocked the payer') })
      await release()
      beforeSending(async () => {
        release = await block(testbed.chains)
      })
      expectFailed(await payUntilSettled(url, text))
      await release()
      expect((await payUntilSettled(url, text)).status).toBe(200)
      expect(await testbed.paidSince('evm', before)).toBe(PRICE)
    })

    it('T-46 is forgotten once its authorization has expired on chain', {
      tags: ['nightly'],
    }, async () => {
      // A short validity keeps the chain's clock close to the clock of other tests.
      const text = await signedFor('evm', here(), (leg) => ({ ...leg, maxTimeoutSeconds: 60 }))
      const returnFunds = emptyBeforeSending(1)
      expectFailed(await payUntilSettled(testbed.gateway.url, text))
      await returnFunds()
      const { accepted, payload } = decodePaymentSignatureHeader(text)
      const { validBefore } = (payload as unknown as Signed).authorization
      await thirdParty().setNextBlockTimestamp({ timestamp: BigInt(validBefore) })
      await thirdParty().mine({ blocks: 1 + FINALITY_DEPTH })
      expectRefused(await payUntilSettled(testbed.gateway.url, text))
      const { db } = testbed.gateway.context.database
      const rows = db.selectFrom('x402_settlements').select('tx')
      expect(await rows.where('pay_req_id', '=', String(accepted.extra.pay_req_id)).execute()).toEqual([])
    })

    it('T-46 is impossible beyond the search window, because a longer authorization is refused', async () => {
      const text = await signedFor('evm', here(), (leg) => ({ ...leg, maxTimeoutSeconds: 8 * 86_400 }))
      expectRefused(await payUntilSettled(testbed.gateway.url, text), 'authorization_valid_too_long')
    })
  })

  /** Makes the payment pass its simulation, fail on chain and cost the gateway its gas. */
  async function cancelBeforeSending(payment: PaymentPayload, payer = 1, then: typeof honestly = honestly) {
    beforeSending(await cancelling(payment, payer), then)
  }

  async function cancelling({ payload }: PaymentPayload, payer = 1) {
    const { from, nonce } = (payload as unknown as Signed).authorization
    const domain = { name: 'USDC', version: '2', chainId: 143, verifyingContract: token }
    const types = { CancelAuthorization: ['authorizer:address', 'nonce:bytes32'].map(field) }
    const message = { authorizer: from, nonce }
    const account = privateKeyToAccount(DEV_PAYERS[payer]!.privateKey)
    const cancel = await account.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })
    const args = [from, nonce, ...signature(cancel)] as const
    return () => thirdParty().writeContract({ address: token, abi, functionName: 'cancelAuthorization', args })
  }

  /** Starts a gateway with limits and a clock that tests can advance. */
  async function openLimited(variables: Variables) {
    let ahead = 0
    const errors: string[] = []
    const write = (line: string) => void errors.push(line)
    const log = createLog('error', { write, writeSoon: write, flush: () => {} })
    const gateway = await testbed.open(variables, { now: () => Date.now() + ahead, log })
    onTestFinished(() => gateway.stop())
    const sign = async (payer = 1) => signFor(await walletOn('evm', testbed.chains, payer), gateway.url)
    return {
      gateway,
      errors,
      advance: (seconds: number) => {
        ahead += seconds * 1000
      },
      async buy(payer?: number) {
        testbed.calm()
        return payUntilSettled(gateway.url, (await sign(payer)).text)
      },
      async fail(payer?: number) {
        const { text, payload } = await sign(payer)
        await cancelBeforeSending(payload, payer)
        return payUntilSettled(gateway.url, text)
      },
    }
  }
  const sentCount = () => testbed.nodes.evm.calls.filter((method) => method === SEND.evm).length

  it.each([
    ['its payer', { RATE_LIMITS: 'failed_payments_payer=2/hour' }, 200],
    ['its address', { RATE_LIMITS: 'failed_payments_address=2/hour' }, 429],
  ])(
    'T-34 a payment that fails after its simulation counts against %s for an hour',
    { tags: ['nightly'] },
    async (_who, limit, others) => {
      const limited = await openLimited(limit)
      for (let i = 0; i < 3; i++) expect((await limited.buy()).status, 'a payment that pays').toBe(200)
      for (let i = 0; i < 2; i++) expectRefused(await limited.fail())
      const sent = sentCount()
      const refused = await limited.fail()
      expectError(refused, 429, 'RATE_LIMITED')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500)
      expect(responseIn(refused.headers)).toMatchObject({
        success: false,
        transaction: '',
        errorReason: 'limit_reached',
      })
      expect(sentCount()).toBe(sent)
      expect((await limited.buy(2)).status).toBe(others)
      limited.advance(3600)
      expect((await limited.buy()).status).toBe(200)
    },
  )

  it('T-34 nothing is sent once fees of failed payments reach the daily ceiling, and one error is logged', {
    tags: ['nightly'],
  }, async () => {
    const limited = await openLimited({
      SPEND_PER_DAY: 'x402_evm=0.0005MON,x402_share=100%',
      RATE_LIMITS: 'failed_payments_payer=0/hour',
    })
    const replies = [await limited.fail()]
    while (replies.at(-1)?.status === 402) replies.push(await limited.fail())
    expect(replies.length).toBeGreaterThan(1)
    const sent = sentCount()
    const refused = await limited.buy(2)
    expectError(refused, 503, 'chain_unavailable', 'daily_budget_used')
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(sentCount()).toBe(sent)
    expect(limited.errors).toEqual([expect.stringContaining('x402_evm')])
    const health = await (await fetch(`${limited.gateway.url}/health`)).json()
    expect(health).toMatchObject({
      status: 'ok',
      budgets: { x402_evm: 'used_up', x402_primary: 'ok' },
      warnings: [expect.stringContaining('x402_evm')],
    })
    limited.advance(86_400)
    expect((await limited.buy(2)).status).toBe(200)
  })

  it('an authorization is sent again when another process with the same key has used the nonce', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const { text } = await testbed.sign('evm')
    beforeSending(takeNonce)
    expect((await payUntilSettled(testbed.gateway.url, text)).status).toBe(200)
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  it('T-45 a payment that a third party submits in the last second counts, although the newest block of a node is older', async () => {
    const leg = (offered: X402Leg) => ({ ...offered, maxTimeoutSeconds: 120 })
    const text = await signedFor('evm', { ...testbed, url: testbed.gateway.url }, leg)
    const payload = decodePaymentSignatureHeader(text)
    const { validBefore } = (payload.payload as unknown as Signed).authorization
    let theirs: Hex | undefined
    beforeSending(
      async () => {
        theirs = await thirdParty().sendTransaction({ to: token, data: transfer(payload) })
        await thirdParty().setNextBlockTimestamp({ timestamp: BigInt(validBefore) })
        await thirdParty().mine({ blocks: 1 })
      },
      async (call) => {
        const body = await call.honest()
        const [{ data = '' } = {}, block] = call.params as [{ data?: string }?, string?]
        const isState = call.method === 'eth_call' && data.startsWith(AUTHORIZATION_STATE) && block === 'latest'
        return { body: isState ? JSON.stringify({ ...JSON.parse(body), result: numberToHex(0, { size: 32 }) }) : body }
      },
    )
    expectPending(await pay(testbed.gateway.url, text))
    testbed.calm()
    expect((await payUntilSettled(testbed.gateway.url, text)).body).toMatchObject({ receipt: { tx_hash: theirs } })
  })

  // This test is last, because it leaves the clock of the chain far ahead.
  it('T-46 an authorization that a third party submits much later gets its receipt after any distance of search', {
    tags: ['nightly'],
  }, async () => {
    let ahead = 0
    const gateway = await testbed.open({}, { now: () => Date.now() + ahead })
    onTestFinished(() => gateway.stop())
    const days = (leg: X402Leg) => ({ ...leg, maxTimeoutSeconds: 6 * 86_400 })
    const text = await signedFor('evm', { ...testbed, gateway, url: gateway.url }, days)
    const payload = decodePaymentSignatureHeader(text)
    const returnFunds = emptyBeforeSending(1)
    expectError(await payUntilSettled(gateway.url, text), 402, 'payment_verification_failed', 'transaction_failed')
    await returnFunds()
    await thirdParty().mine({ blocks: 6000 })
    const theirs = await thirdParty().sendTransaction({ to: token, data: transfer(payload) })
    const { queue, database } = gateway.context
    const receipt = () => findReceiptOfRequest(database.db, String(payload.accepted.extra.pay_req_id))
    ahead = 361_000
    expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    expect(await receipt()).toBeNull()
    // The authorization has paid, so the gateway neither forgets nor abandons it.
    ahead += 40 * 86_400_000
    expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    expect(await receipt()).toMatchObject({ tx_hash: theirs, payer_pubkey: DEV_PAYERS[1]!.address.toLowerCase() })
  })

  function takeNonce() {
    const facilitator = connectAs(DEV_PAYERS.at(-1)!, testbed.chains.evm.url)
    return facilitator.sendTransaction({ to: DEV_PAYERS[3]!.address, value: 1n })
  }
})

function field(text: string) {
  const [name, type] = text.split(':') as [string, string]
  return { name, type }
}
