import type { LockerList } from '@svc/api/lockers'
import type { SignInRequired, X402Purchase } from '@svc/api/x402'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { signerOf } from '@svc/devnet/primary-chain/dev-client'
import { x402HTTPClient } from '@x402/core/client'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import {
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxPayload,
  type SIWxSigner,
  wrapFetchWithSIWx,
} from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  buyWith,
  FAMILIES,
  type Family,
  startX402Testbed,
  treasuries,
  WALLETS,
  walletOn,
  type X402Testbed,
} from './x402-testbed.ts'

let testbed: X402Testbed
let endpoint: string
let now = Date.now()
const bought = {} as Record<Family, X402Purchase>
beforeAll(async () => {
  testbed = await startX402Testbed({ RATE_LIMITS: 'address=30000/min' }, { now: () => now })
  // Clients sign only for the URL that they called.
  endpoint = `${testbed.gateway.context.config.http.baseUrl}/v1/x402/storage`
  for (const family of FAMILIES) {
    const response = await buyWith(await walletOn(family, testbed.chains), testbed.url)
    bought[family] = (await response.json()) as X402Purchase
  }
})
afterAll(() => testbed.stop())

const CHAINS = {
  primary: { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', type: 'ed25519' },
  evm: { chainId: 'eip155:143', type: 'eip191' },
} as const

async function signerOn(family: Family, payer = 1): Promise<SIWxSigner> {
  // The library's signer type is narrower than the type of the kit that it supports.
  return family === 'evm'
    ? privateKeyToAccount(DEV_PAYERS[payer]!.privateKey)
    : ((await signerOf(DEMO_PAYERS[payer]!)) as unknown as SIWxSigner)
}

async function challenge() {
  const response = await fetch(endpoint)
  const body = (await response.json()) as SignInRequired
  return { response, body, info: body.extensions['sign-in-with-x'].info }
}

type Change = (info: SignInRequired['extensions']['sign-in-with-x']['info']) => object

/** The header of a stock client. `change` alters the challenge before signing, and `forge` the payload after it. */
async function signIn(family: Family, change: Change = () => ({}), forge: Partial<SIWxPayload> = {}, payer = 1) {
  const { info } = await challenge()
  const changed = { ...info, ...CHAINS[family], ...change(info) }
  const origin = new URL(changed.uri).origin
  const payload = await createSIWxPayload(changed, await signerOn(family, payer), origin)
  return encodeSIWxHeader({ ...payload, ...forge })
}

const sendSignIn = (header: string) => fetch(endpoint, { headers: { 'sign-in-with-x': header } })

async function expectRefused(header: string, code: string) {
  const response = await sendSignIn(header)
  const body = (await response.json()) as SignInRequired
  expect([response.status, body.error.split(':')[0]]).toEqual([402, code])
  expect(JSON.stringify(body)).not.toMatch(/rcpt_|locker_[0-9a-f]/)
  expect(decodePaymentRequiredHeader(response.headers.get('payment-required') ?? '').extensions).toHaveProperty(
    'sign-in-with-x',
  )
}

describe('sign-in-with-x', () => {
  it.each(FAMILIES)(
    'ADD-48 a stock client that has bought on the %s chain signs in, and pays nothing more',
    async (family) => {
      const before = await treasuries(testbed.chains)
      const client = await walletOn(family, testbed.chains)
      client.registerExtension(createSIWxClientExtension({ signers: [await signerOn(family)] }))
      const response = await wrapFetchWithPayment(fetch, new x402HTTPClient(client))(endpoint)
      const list = (await response.json()) as LockerList
      expect([response.status, list.wallet]).toEqual([200, WALLETS[family]])
      const { receipt_id, locker_id } = bought[family]
      expect(list.lockers).toEqual([expect.objectContaining({ receipt_id, locker_id, role: 'owner' })])
      expect(await treasuries(testbed.chains)).toEqual(before)
    },
  )

  it('ADD-48 a wallet that has bought nothing gets an empty list', async () => {
    const response = await sendSignIn(await signIn('evm', undefined, {}, 2))
    expect([response.status, ((await response.json()) as LockerList).lockers]).toEqual([200, []])
  })

  it('ADD-48 the challenge names this gateway and requests no payment', async () => {
    const { response, body, info } = await challenge()
    expect([response.status, body.accepts]).toEqual([402, []])
    expect(info).toMatchObject({ domain: new URL(endpoint).host, uri: endpoint, version: '1' })
    expect(Date.parse(info.expirationTime) - Date.parse(info.issuedAt)).toBe(300_000)
    expect((await challenge()).info.nonce).not.toBe(info.nonce)
    // Pages of any origin may sign in.
    const asked = { origin: 'https://page.example', 'access-control-request-headers': 'sign-in-with-x' }
    const preflight = await fetch(endpoint, {
      method: 'OPTIONS',
      headers: { ...asked, 'access-control-request-method': 'GET' },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('sign-in-with-x')
    // A client without a matching signer gets the 402.
    expect((await wrapFetchWithSIWx(fetch, await signerOn('evm'))(endpoint)).status).toBe(402)
  })

  it.each(FAMILIES)('T-04 a sign-in on the %s chain is valid once', async (family) => {
    const header = await signIn(family)
    expect((await sendSignIn(header)).status).toBe(200)
    await expectRefused(header, 'invalid_siwx_nonce')
  })

  it.each(FAMILIES)(
    'T-04 a sign-in on the %s chain for another site, URL, text, chain or wallet is refused',
    async (family) => {
      const elsewhere = { domain: 'other.example', uri: 'https://other.example/v1/x402/storage' }
      await expectRefused(await signIn(family, () => elsewhere), 'invalid_siwx_domain_mismatch')
      // Signed for another site, then changed to name this one.
      const { domain, uri } = (await challenge()).info
      await expectRefused(await signIn(family, () => elsewhere, { domain, uri }), 'invalid_siwx_signature')
      await expectRefused(
        await signIn(family, () => ({ uri: endpoint.replace('x402/storage', 'lockers') })),
        'invalid_siwx_uri_mismatch',
      )
      await expectRefused(
        await signIn(family, () => ({ statement: 'Win a prize', requestId: 'x' })),
        'invalid_siwx_signature',
      )
      const otherChain = family === 'evm' ? 'eip155:1' : 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
      await expectRefused(await signIn(family, () => ({ chainId: otherChain })), 'invalid_siwx_unsupported_chain')
      await expectRefused(await signIn(family, undefined, { address: victimOf(family) }), 'invalid_siwx_signature')
      await expectRefused(await signIn(family, undefined, { nonce: 'a'.repeat(32) }), 'invalid_siwx_signature')
      const swappedChain = CHAINS[family === 'evm' ? 'primary' : 'evm'].chainId
      await expectRefused(await signIn(family, undefined, { chainId: swappedChain }), 'invalid_siwx_unsupported_chain')
    },
  )

  it('T-04 a sign-in ends after five minutes whatever it states, and cannot start in the future', async () => {
    const late = await signIn('evm')
    const forever = await signIn('evm', () => ({ expirationTime: '2999-01-01T00:00:00Z' }))
    const short = await signIn('evm', ({ issuedAt }) => ({ expirationTime: issuedAt }))
    const future = await signIn('evm', () => ({ issuedAt: new Date(now + 45_000).toISOString() }))
    await expectRefused(short, 'invalid_siwx_expired')
    await expectRefused(future, 'invalid_siwx_issued_at_in_future')
    now += 301_000
    await expectRefused(late, 'invalid_siwx_expired')
    await expectRefused(forever, 'invalid_siwx_expired')
  })

  it.each([
    ['text other than base64', '{}'],
    ['a list', Buffer.from('[]').toString('base64')],
    ['a header that is too long', 'A'.repeat(5000)],
  ])('T-04 %s is refused with a new challenge', (_, header) => expectRefused(header, 'invalid_siwx_malformed'))

  it.each([
    ['nonce', 'with\nline: breaks'],
    ['issuedAt', '2026-99-99T99:99:99Z'],
    ['signature', 'x'.repeat(300)],
  ])('T-04 a sign-in with the %s %j is refused', async (field, value) =>
    expectRefused(await signIn('evm', undefined, { [field]: value }), 'invalid_siwx_malformed'),
  )
})

/** The wallet of another buyer. */
function victimOf(family: Family): string {
  return family === 'evm' ? DEV_PAYERS[2]!.address : DEMO_PAYERS[2]!.address
}
