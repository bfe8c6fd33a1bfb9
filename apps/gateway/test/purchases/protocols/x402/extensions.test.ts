import type { X402Purchase } from '@svc/api/x402'
import { forAllTests } from '@svc/devnet/for-tests'
import { fromBase58, toHex } from '@svc/protocol/bytes'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { extractDiscoveryInfoFromExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar'
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  extractReceiptPayload,
  findAcceptsObjectFromSignedOffer,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier'
import { describe, expect, it } from 'vitest'
import {
  buyWith,
  encoded,
  FAMILIES,
  type Family,
  PRICE,
  pay,
  post,
  responseIn,
  signFor,
  startX402Testbed,
  treasuryUsdc,
  walletOn,
} from './x402-testbed.ts'

const testbed = forAllTests(() => startX402Testbed({ RATE_LIMITS: 'address=30000/min' }))

/** The offer of the body in the form of the header. */
async function offer(): Promise<PaymentRequired> {
  const { body } = await post<PaymentRequired>(testbed.url, { units: 1 })
  return body
}

async function announcedExtensions() {
  const { headers } = await post(testbed.url, { units: 1 })
  return decodePaymentRequiredHeader(headers.get('payment-required') ?? '').extensions ?? {}
}

/** The header of a stock client that signs for a new quote with an identifier for the purchase. */
async function signAs(id: string, family: Family = 'evm', payer = 1, order: object = { units: 1 }) {
  const { payload } = await signFor(await walletOn(family, testbed.chains, payer), testbed.url, order)
  const extensions = appendPaymentIdentifierToExtensions({ ...payload.extensions }, id)
  return encoded({ ...payload, extensions } as PaymentPayload)
}

const spent = async (family: Family, act: () => Promise<void>) => {
  const before = await treasuryUsdc(family, testbed.chains)
  await act()
  return (await treasuryUsdc(family, testbed.chains)) - before
}

describe('payment-identifier', () => {
  it('T-27 ADD-48 is announced in the form that stock clients read, and is optional', async () => {
    const { 'payment-identifier': declared } = await announcedExtensions()
    expect(validatePaymentIdentifier(declared)).toEqual({ valid: true })
    expect(declared).toMatchObject({ info: { required: false } })
  })

  it.each(FAMILIES)(
    'T-27 ADD-48 a client that starts over on the %s chain pays once and gets its receipt',
    async (family) => {
      const id = generatePaymentId()
      const paid = await spent(family, async () => {
        const first = await pay(testbed.url, await signAs(id, family))
        expect([first.status, first.body.idempotent]).toEqual([200, false])
        // Simulates a lost response: another quote and signature with the same identifier.
        const again = await pay(testbed.url, await signAs(id, family))
        expect([again.status, again.body.idempotent]).toEqual([200, true])
        expect(again.body.receipt_id).toBe(first.body.receipt_id)
        expect(again.body.locker_id).toBe(first.body.locker_id)
      })
      expect(paid).toBe(PRICE)
    },
  )

  it('T-27 ADD-48 the identifier of another client returns no receipt and sends nothing', async () => {
    const id = generatePaymentId()
    await pay(testbed.url, await signAs(id))
    const stolen = await signAs(id, 'evm', 2)
    const paid = await spent('evm', async () => {
      const { status, body } = await pay<{ error: string }>(testbed.url, stolen)
      expect([status, body.error]).toEqual([409, 'idempotency_conflict'])
      expect(JSON.stringify(body)).not.toMatch(/rcpt_|locker_/)
    })
    expect(paid).toBe(0n)
  })

  it.each(FAMILIES)(
    'T-27 ADD-13 a copy of a payment on the %s chain does not prove that the caller is its payer',
    async (family) => {
      const id = generatePaymentId()
      const named = ({ extensions, ...payload }: PaymentPayload) =>
        encoded({ ...payload, extensions: appendPaymentIdentifierToExtensions({ ...extensions }, id) })
      const { payload: paid } = await signFor(await walletOn(family, testbed.chains), testbed.url)
      expect((await pay(testbed.url, named(paid))).status).toBe(200)
      const { payload: own } = await signFor(await walletOn(family, testbed.chains, 2), testbed.url)
      const { status, body } = await pay<{ error: string }>(testbed.url, named({ ...own, payload: paid.payload }))
      expect([status, body.error]).toEqual([409, 'idempotency_conflict'])
      expect(JSON.stringify(body)).not.toMatch(/rcpt_|locker_/)
    },
  )

  it('T-27 ADD-48 an identifier is valid for one order', async () => {
    const id = generatePaymentId()
    await pay(testbed.url, await signAs(id))
    const order = { units: 2 }
    const { status, body } = await pay<{ error: string }>(testbed.url, await signAs(id, 'evm', 1, order), order)
    expect([status, body.error]).toEqual([409, 'idempotency_conflict'])
  })

  it('T-27 ADD-48 two concurrent quotes with one identifier are paid once', async () => {
    const id = generatePaymentId()
    const signatures = await Promise.all([signAs(id), signAs(id)])
    const paid = await spent('evm', async () => {
      const replies = await Promise.all(signatures.map((signature) => pay(testbed.url, signature)))
      expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    })
    expect(paid).toBe(PRICE)
  })

  it('T-27 a permanently refused payment releases its identifier', async () => {
    const id = generatePaymentId()
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const extensions = appendPaymentIdentifierToExtensions({ ...payload.extensions }, id)
    const signature = `0x${'11'.repeat(65)}`
    const bad = encoded({ ...payload, extensions, payload: { ...payload.payload, signature } } as PaymentPayload)
    expect((await pay(testbed.url, bad)).status).toBe(402)
    expect((await pay(testbed.url, await signAs(id))).status).toBe(200)
  })

  it.each(['short', 'x'.repeat(129), 'with spaces in the middle', 'pay_ümlaut_is_no_identifier'])(
    'T-27 the identifier %s is refused before anything is sent',
    async (id) => {
      const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
      const extensions = { ...payload.extensions, 'payment-identifier': { info: { required: false, id } } }
      const { status, body } = await pay<{ error: string }>(testbed.url, encoded({ ...payload, extensions }))
      expect([status, body.error]).toEqual([400, 'malformed_payment'])
    },
  )
})

it.each(FAMILIES)(
  'T-27 ADD-48 a purchase on the %s chain returns a receipt that clients can verify',
  async (family) => {
    const response = await buyWith(await walletOn(family, testbed.chains), testbed.url)
    const body = (await response.clone().json()) as X402Purchase
    const receipt = extractReceiptFromResponse(response)
    if (!receipt || !isJWSSignedReceipt(receipt)) throw new Error('the response has no signed receipt')
    // The verifier takes the key from the receipt itself.
    expect(await verifyReceiptSignatureJWS(receipt)).toEqual(extractReceiptPayload(receipt))
    expect(extractReceiptPayload(receipt)).toEqual({
      version: 1,
      network: responseIn(response.headers).network,
      resourceUrl: expect.stringMatching(/\/v1\/x402\/storage$/),
      payer: body.receipt.payer_pubkey,
      issuedAt: Date.parse(body.receipt.confirmed_at) / 1000,
      transaction: body.receipt.tx_hash,
    })
    // The receipt contains nothing that gives access to the locker.
    expect(JSON.stringify(extractReceiptPayload(receipt))).not.toMatch(/rcpt_|pr_|locker_/)
  },
)

it('T-27 ADD-48 the offer describes its request to catalogues', async () => {
  const { bazaar } = await announcedExtensions()
  const extension = bazaar as Parameters<typeof validateDiscoveryExtension>[0]
  expect(validateDiscoveryExtension(extension)).toEqual({ valid: true })
  const { input } = extractDiscoveryInfoFromExtension(extension)
  expect(input).toMatchObject({ type: 'http', method: 'POST', bodyType: 'json', body: { units: 1 } })
  const { body } = input as { body: object }
  expect((await post(testbed.url, body)).status).toBe(402)
})

describe('signed offers', () => {
  it('ADD-48 each leg of a quote is signed with a key of GET /v1/keys until the quote ends', async () => {
    const required = await offer()
    const offers = extractOffersFromPaymentRequired(required)
    const { expires_at } = (required.extensions as { svc: { info: { expires_at: string } } }).svc.info
    expect(offers).toHaveLength(required.accepts.length)
    for (const [index, signed] of offers.entries()) {
      if (!isJWSSignedOffer(signed)) throw new Error('no JWS')
      const payload = await verifyOfferSignatureJWS(signed)
      expect(findAcceptsObjectFromSignedOffer(signed, required.accepts)).toBe(required.accepts[index])
      expect(payload).toMatchObject({ version: 1, resourceUrl: required.resource?.url })
      const left = Date.parse(expires_at) / 1000 - (payload.validUntil ?? 0)
      expect([left >= 0, left < 60]).toEqual([true, true])
      // An offer is not a quote and names nothing that can be confirmed.
      expect(JSON.stringify(payload)).not.toMatch(/pr_/)
    }
    const { kid } = JSON.parse(Buffer.from(offers[0]!.signature.split('.')[0]!, 'base64url').toString())
    const key = fromBase58(kid.split('#z')[1], 34)!.subarray(2)
    const { keys } = (await (await fetch(`${testbed.url}/v1/keys`)).json()) as { keys: { public_key_hex: string }[] }
    expect(keys.map(({ public_key_hex }) => public_key_hex)).toContain(toHex(key))
  })

  it('T-04 offers of the same minute and price share signatures, so unauthenticated calls cost few of them', async () => {
    const [first, second] = [await offer(), await offer()].map(extractOffersFromPaymentRequired)
    const validUntil = (offers = first) => decodeSignedOffers(offers!)[0]!.validUntil
    // The minute may have ended in between.
    if (validUntil(first) === validUntil(second)) expect(second).toEqual(first)
    else expect(validUntil(second)).toBe(validUntil(first)! + 60)
  })
})

it('T-27 ADD-48 purchases announce no sign-in, because they do not support it', async () => {
  expect(Object.keys(await announcedExtensions()).sort()).toEqual(['bazaar', 'payment-identifier', 'svc'])
  expect(Object.keys((await offer()).extensions ?? {}).sort()).toEqual(['offer-receipt', 'svc'])
})
