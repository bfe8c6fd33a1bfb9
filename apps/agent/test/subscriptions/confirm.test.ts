import type { AgentDiscovery } from '@svc/api/agent/info'
import { publishedBy } from '@svc/devnet/published'
import { isoSeconds } from '@svc/protocol/evidence'
import { paymentReference } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, receiptClaim } from '@svc/protocol/receipt'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, pay, payReqId, subscriptionApi } from '../subscription-api.ts'
import { ed25519Wallet, evmPayer, type Payer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)

const DAY = 86_400
/** A new payer for each test, without an earlier subscription. */
beforeEach(() => stack.clock.advance(31 * DAY))

describe('AGENT-01 AGENT-03 a payment', () => {
  it.each([
    ['SOL', 'primary-mainnet', primaryPayer(0)],
    ['USDC', 'evm-mainnet', evmPayer(1)],
  ])(
    'AGENT-01 T-33 buys the payer thirty days with %s on %s, and publishes only a reference',
    async (ticker, network, payer) => {
      const quote = await api.quote()
      const leg = legOf(quote, ticker, network)
      const tx = await pay(stack, leg, payer)
      const published = await publishedBy(stack.chains, tx)
      expect(published).toContain(paymentReference(payReqId(quote)))
      expect(published).not.toContain(payReqId(quote))
      const { status, headers, body } = await api.confirm({ quote, tx, identity: payer.identity, leg })
      expect([status, headers.get('cache-control')], JSON.stringify(body)).toEqual([200, 'no-store'])
      expect(body).toEqual({
        ok: true,
        idempotent: false,
        receipt_id: expect.stringMatching(/^rcpt_[0-9a-f]{32}$/),
        receipt: expect.objectContaining({
          receipt_id: body.receipt_id,
          pay_req_id: payReqId(quote),
          tx_hash: tx,
          payer_pubkey: payer.identity,
          pay_asset: ticker,
          network,
          paid_raw: leg.amount,
          units: 1,
        }),
        subscription: {
          subscription_id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
          identity: payer.identity,
          status: 'active',
          starts_at: isoSeconds(stack.clock.seconds()),
          expires_at: isoSeconds(stack.clock.seconds() + 30 * DAY),
        },
      })
    },
  )

  it('AGENT-01 AGENT-03 gets a receipt signed with the key in the discovery document', async () => {
    const { receipt } = await stack.subscribe(primaryPayer(3))
    const { body: index } = await stack.send<AgentDiscovery>('GET', '/.well-known/svc-agent.json')
    const key = ed25519PublicKeyFromHex(index.signing_key.public_key_hex)!
    expect(isReceiptSignedBy(key, receipt)).toBe(true)
    expect(isReceiptSignedBy(key, { ...receipt, units: 2 })).toBe(false)
  })

  it('AGENT-03 counts without a memo, with the transaction in the body and the address in any letter case', async () => {
    const payer = evmPayer(3)
    const quote = await api.quote({ pay_network: 'evm-mainnet' })
    const tx = await pay(stack, quote.accepts[0]!, payer, { memo: null })
    const identity = `0x${payer.identity.slice(2).toUpperCase()}`
    const body = { pay_req_id: payReqId(quote), tx_sig: tx.toUpperCase().replace('0X', '0x') }
    const reply = await api.postConfirm(body, { 'x-svc-identity': identity })
    expect(reply.body).toMatchObject({ ok: true, subscription: { identity: payer.identity } })
  })

  it('AGENT-03 AMB-06 may be confirmed a day after its quote, and the thirty days begin then', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer), identity: payer.identity }
    stack.clock.advance(300 + DAY)
    const { body } = await api.confirm(confirmation)
    expect(body.subscription.starts_at).toBe(isoSeconds(stack.clock.seconds()))
    const late = await api.quote()
    const tx = await pay(stack, late.accepts[0]!, payer)
    stack.clock.advance(300 + DAY + 1)
    expectError(await api.confirm({ quote: late, tx, identity: payer.identity }), 410, 'quote_expired')
  })
})

it('AGENT-03 T-02 another identity cannot confirm a payment, or prevent the payer from confirming it', async () => {
  const before = await countPurchases(stack)
  const payer = primaryPayer(0)
  const quote = await api.quote()
  const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer) }
  for (const identity of [
    ed25519Wallet().identity,
    evmPayer(0).identity,
    stack.chains.agentVariables.PRIMARY_TREASURY!,
  ])
    expectError(await api.confirm({ ...confirmation, identity }), 403, 'OWNER_IDENTITY_MISMATCH')
  expect(await countPurchases(stack)).toEqual(before)
  const { status, body } = await api.confirm({ ...confirmation, identity: payer.identity })
  expect([status, body.idempotent]).toEqual([200, false])
})

it('T-02 a payment buys the days for its payer even if another caller confirms it with their own quote', async () => {
  const payer = evmPayer(1)
  const [quote, othersQuote] = [await api.quote(), await api.quote()]
  const leg = legOf(quote, 'USDC', 'evm-mainnet')
  const tx = await pay(stack, leg, payer, { memo: null })
  const { body } = await api.confirm({ quote: othersQuote, tx, identity: payer.identity, leg })
  expect(body.subscription).toMatchObject({ identity: payer.identity, status: 'active' })
  const own = await api.confirm({ quote, tx, identity: payer.identity, leg })
  expectError(own, 402, 'payment_verification_failed', 'transaction_already_used')
})

describe('AGENT-03 PAY-51 a repeated confirmation', () => {
  it('PAY-51 ADD-13 returns the first answer for its transaction or signature, and extends nothing', async () => {
    const payer = primaryPayer(1)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    const { body: first } = await api.confirm({ quote, tx, identity: payer.identity })
    const before = await countPurchases(stack)
    const again = await api.confirm({ quote, tx, identity: payer.identity })
    expect([again.status, again.body]).toEqual([200, { ...first, idempotent: true }])
    const other = await pay(stack, quote.accepts[0]!, payer)
    const refused = await api.confirm({ quote, tx: other, identity: payer.identity })
    expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
    expect(JSON.stringify(refused.body)).not.toContain(first.receipt_id)
    const { confirm_url, pay_req_id } = quote.extensions.svc.info
    const signedBy = async ({ signer }: Payer) => {
      const body = { pay_req_id, payer_signature: await signer.sign(receiptClaim(confirm_url, pay_req_id)) }
      return api.postConfirm(body, { 'x-svc-identity': payer.identity })
    }
    expect((await signedBy(payer)).body).toEqual({ ...first, idempotent: true })
    expectError(await signedBy(primaryPayer(2)), 402, 'payment_verification_failed', 'quote_already_paid')
    expect(await countPurchases(stack)).toEqual(before)
  })

  it('AGENT-03 PAY-51 is a 403 for another identity and reveals nothing about the receipt', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    const { body: purchase } = await api.confirm({ quote, tx, identity: payer.identity })
    const reply = await api.confirm({ quote, tx, identity: ed25519Wallet().identity })
    expectError(reply, 403, 'OWNER_IDENTITY_MISMATCH')
    for (const secret of [purchase.receipt_id, payer.identity, purchase.subscription.subscription_id])
      expect(JSON.stringify(reply.body)).not.toContain(secret)
  })

  it('AGENT-03 PAY-51 shows long afterwards what the payment bought and that it has expired', async () => {
    const payer = evmPayer(2)
    const quote = await api.quote({ pay_network: 'evm-mainnet' })
    const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer), identity: payer.identity }
    const { body: first } = await api.confirm(confirmation)
    stack.clock.advance(400 * DAY)
    const { body: later } = await api.confirm(confirmation)
    expect(later).toEqual({
      ...first,
      idempotent: true,
      subscription: { ...first.subscription, status: 'expired' },
    })
    expectError(await api.confirm({ ...confirmation, identity: evmPayer(0).identity }), 403, 'OWNER_IDENTITY_MISMATCH')
  })
})
