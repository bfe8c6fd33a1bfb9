import { rm } from 'node:fs/promises'
import { ASSETS } from '@svc/api/assets'
import { ERROR_STATUS } from '@svc/api/errors'
import { byChainCheck, EVM, type Network, PRIMARY } from '@svc/api/networks'
import { PROVIDERS } from '@svc/api/providers'
import { forEachDatabase } from '@svc/devnet/databases'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { writable } from '@svc/devnet/writable'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { VERSION } from '@svc/protocol/version'
import { describe, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { activateSigningKey, allSigningKeys } from '../../src/keys/store.ts'

const tickersOf = (network: Network) => ASSETS.filter((one) => one.network === network).map(({ ticker }) => ticker)

const gateway = forAllTests(() =>
  startTestGateway({ BASE_URL: 'https://gateway.example/prefix/' }, { now: () => Date.UTC(2026, 5, 12) }),
)

async function get(path: string) {
  const response = await fetch(gateway.url + path)
  return { response, body: await response.json() }
}

describe('health', () => {
  it('VER-20 answers health as JSON with a check of every part', async () => {
    const { response, body } = await get('/health')
    expect(response.status).toBe(200)
    // Missing prices are reported only after a request for them.
    const { warnings: _, not_offered, ...health } = body
    expect(new Set(not_offered.map(({ reason }: { reason: string }) => reason))).toEqual(
      new Set(['chain_not_configured']),
    )
    expect(health).toEqual({
      status: 'ok',
      version: '1.0.0',
      release: VERSION,
      time: '2026-06-12T00:00:00Z',
      checks: {
        database: 'ok',
        storage: 'ok',
        ...byChainCheck(() => 'disabled'),
        signing_key: 'ok',
        publication_key: 'disabled',
        price_feed: 'disabled',
      },
      providers: Object.fromEntries(PROVIDERS.map((provider) => [provider, 'ok'])),
      budgets: { publication: 'ok', registry_rent: 'ok', evm_registry: 'ok', x402_primary: 'ok', x402_evm: 'ok' },
      continuity: {
        // The comparison may still run just after the start.
        state: expect.stringMatching(/^(current|checking)$/),
        logbook: 'ok',
        chain: 'off',
        log: 'ok',
        missing_statements: 0,
        missing: [],
        missing_payments: 0,
        missing_others: 0,
        missing_revocations: 0,
        awaited_logbooks: 0,
      },
    })
  })

  it('VER-20 reports liveness and readiness to load balancers', async () => {
    expect((await get('/health/live')).body).toEqual({ status: 'live' })
    expect((await get('/health/ready')).body).toEqual({ status: 'ready', checks: { database: 'ok', storage: 'ok' } })
  })

  it('VER-20 answers 503 while the gateway cannot serve', async () => {
    let now = Date.UTC(2026, 5, 12)
    const other = await startTestGateway({}, { now: () => now })
    await other.context.database.close()
    const response = await fetch(`${other.url}/health`)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ status: 'degraded', checks: { database: 'failing', storage: 'ok' } })
    const ready = await fetch(`${other.url}/health/ready`)
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await ready.json()).toEqual({ status: 'not_ready', checks: { database: 'failing', storage: 'ok' } })
    expect((await fetch(`${other.url}/health/live`)).status).toBe(200)
    await rm(other.context.config.dataDir, { recursive: true })
    now += 10_000
    const health = async () => (await fetch(`${other.url}/health`)).json()
    await expect.poll(health).toMatchObject({ checks: { storage: 'failing' } })
    await other.stop()
  })
})

describe('keys', () => {
  it('VER-16 LOG-45 answers the same list of signing keys at both addresses', async () => {
    const { response, body } = await get('/v1/keys')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect((await get('/.well-known/svc-signing-keys.json')).body).toEqual(body)
    const public_key_hex = toHex(gateway.context.signers.statement.publicKey)
    const key_id = `ed25519:${public_key_hex.slice(0, 16)}`
    const entry = { key_id, alg: 'ed25519', public_key_hex, status: 'active', valid_from: '2026-06-12T00:00:00Z' }
    expect(body).toEqual({
      schema: 'svc/signing-keys/v1',
      keys: ['receipt', 'attestation', 'evidence-envelope'].map((use) => ({ ...entry, use })),
      note: expect.stringContaining('SVCGW_CONTENT_ENVELOPE_V2'),
      logs: [{ origin: 'gateway.example/prefix/log', vkey: (await get('/v1/log')).body.vkey }],
    })
  })

  it('SHORT-04 answers a separate key for short URLs', async () => {
    const { body } = await get('/v1/short-url/verify-key')
    expect(body).toEqual({
      verify_key_hex: toHex(gateway.context.signers.shortUrl.publicKey),
      algorithm: 'ed25519',
      usage: 'short_url_token_verification',
    })
    expect(body.verify_key_hex).not.toBe(toHex(gateway.context.signers.statement.publicKey))
  })
})

forEachDatabase('stored signing keys', (database) => {
  it('VER-17 stores every signing key, with one active and the others retired, even when ten gateways start at once', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    await activateSigningKey(writable(db), 'aa', '2026-01-01T00:00:00Z')
    await activateSigningKey(writable(db), 'bb', '2026-02-01T00:00:00Z')
    await activateSigningKey(writable(db), 'bb', '2026-03-01T00:00:00Z')
    const bb = { public_key_hex: 'bb', valid_from: '2026-02-01T00:00:00Z', valid_to: null, revoked_since: null }
    const retired = { valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-02-01T00:00:00Z' }
    const aa = { public_key_hex: 'aa', ...retired, revoked_since: null }
    expect(await allSigningKeys(db)).toEqual([bb, aa])
    await activateSigningKey(writable(db), 'aa', '2026-04-01T00:00:00Z')
    expect(await allSigningKeys(db)).toEqual([
      { ...aa, valid_to: null },
      { ...bb, valid_to: '2026-04-01T00:00:00Z' },
    ])
    await Promise.all(Array.from({ length: 10 }, () => activateSigningKey(writable(db), 'cc', '2026-05-01T00:00:00Z')))
    expect((await allSigningKeys(db)).filter((key) => key.valid_to === null)).toHaveLength(1)
  })
})

it('EVID-17 the gateway publishes a configured domain tag in the note of the key list and in the index', async () => {
  const tag = 'ANOTHER_TAG_OF_25_LETTERS'
  const other = await startTestGateway({ ENVELOPE_DOMAIN_TAG: tag })
  const read = async (path: string) => (await fetch(other.url + path)).json()
  expect((await read('/v1/keys')).note).toContain(tag)
  expect((await read('/.well-known/svc.json')).evidence.domain_tag).toBe(tag)
  await other.stop()
})

it('ADD-09 every public read allows pages of any origin without credentials, for GET, HEAD and preflights', async () => {
  const { body } = await get('/.well-known/svc.json')
  const reads = (body.endpoints as { method: string; path: string; auth: string }[]).filter(
    ({ method, auth }) => method === 'GET' && auth === 'public',
  )
  expect(reads.length).toBeGreaterThan(10)
  for (const { path } of reads) {
    const url = gateway.url + path.replaceAll(/\{[^}]+\}/g, 'x')
    const [read, head, preflight] = await Promise.all(
      ['GET', 'HEAD', 'OPTIONS'].map((method) => fetch(url, { method, headers: { origin: 'https://page.example' } })),
    )
    for (const { headers } of [read!, head!, preflight!]) {
      expect(headers.get('access-control-allow-origin'), path).toBe('*')
      expect(headers.has('access-control-allow-credentials'), path).toBe(false)
    }
    expect([head!.status, preflight!.status], path).toEqual([read!.status, 204])
  }
})

describe('discovery', () => {
  it('VERS-02 VERS-03 answers the index of the gateway, with absolute addresses under the base URL', async () => {
    const { body } = await get('/.well-known/svc.json')
    expect(body).toMatchObject({
      name: 'svc',
      contract_version: '2026-06-12',
      interface_version: '1.0.0',
      openapi_url: 'https://gateway.example/prefix/openapi.json',
      keys_url: 'https://gateway.example/prefix/v1/keys',
      auth: {
        envelope_header: 'X-Svc-Envelope',
        signature_header: 'X-Svc-Signature',
        ops: expect.arrayContaining(['locker:attest']),
      },
      evidence: {
        merkle: '1.0',
        evidence: '2.0',
        bundle_versions: [1, 2],
        anchor_envelope_versions: [1, 2],
        domain_tag: 'SVCGW_CONTENT_ENVELOPE_V2',
        anchor_signer: toBase58(gateway.context.signers.publication.publicKey),
      },
    })
  })

  it('PAY-25 PAY-32 lists the payable assets of each mainnet, and health reports that the chains answer', async () => {
    const chains = await startLocalChains()
    const other = await startTestGateway(chains.variables)
    const index = (await (await fetch(`${other.url}/.well-known/svc.json`)).json()) as { payment: object }
    expect(index.payment).toEqual({
      quote_schema: 'svc_quote_v4',
      networks: [
        {
          network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
          name: 'primary-mainnet',
          assets: tickersOf(PRIMARY),
          treasury: TREASURY.address,
        },
        {
          network: 'eip155:143',
          name: 'evm-mainnet',
          assets: tickersOf(EVM),
          treasury: DEV_TREASURY.address,
        },
      ],
    })
    const health = async () => (await fetch(`${other.url}/health`)).json()
    await expect.poll(health).toMatchObject({ checks: { primary_chain: 'ok', evm_chain: 'ok' } })
    await other.stop()
    await chains.stop()
  })
})

describe('the error pages', () => {
  it('GEN-02 ERR-30 every error links to a page with its cause and the next step', async () => {
    const { body } = await get('/v1/lockers/locker_000000000000/files')
    expect(body).toMatchObject({
      error: 'MISSING_ENVELOPE',
      docs_url: 'https://gateway.example/prefix/errors/MISSING_ENVELOPE',
    })
    const page = await fetch(`${gateway.url}/errors/${body.error}`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(await page.text()).toMatch(/^MISSING_ENVELOPE \(HTTP 401\)\n\nCause: .+\nNext: .+X-Svc-Envelope/)
  })

  it('ERR-30 the list contains every code, and an unknown code is a 422', async () => {
    const list = await (await fetch(`${gateway.url}/errors`)).text()
    for (const code of Object.keys(ERROR_STATUS)) expect(list).toContain(`${code} (HTTP `)
    const { response, body } = await get('/errors/toString')
    expect([response.status, body.error]).toEqual([422, 'validation_error'])
  })
})
