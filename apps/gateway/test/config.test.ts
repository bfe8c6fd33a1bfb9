import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { EVM, NETWORKS, PRIMARY } from '@svc/api/networks'
import { PROVIDERS } from '@svc/api/providers'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { FAUCET, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { settingsOf } from '@svc/payments/selling/settings'
import { toHex } from '@svc/protocol/bytes'
import { GROUPS, type Variables } from '@svc/service/program/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { readConfig } from '../src/config.ts'
import { seedOf } from '../src/keys/settings.ts'
import { RENAMED_SETTINGS } from '../src/renamed-settings.ts'
import { SETTINGS } from '../src/settings.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const key = (byte: number) => toHex(new Uint8Array(32).fill(byte))
const production = () => ({
  DATA_DIR: folder,
  BASE_URL: 'https://gateway.example',
  STATEMENT_KEY: key(1),
  PUBLICATION_KEY: key(2),
  SHORT_URL_KEY: key(3),
  EVM_RPC_URLS: 'https://rpc.example',
  EVM_TREASURY: `0x${'ab'.repeat(20)}`,
  LOCAL_PROVIDERS: 'gcs',
})

describe('production', () => {
  it('CFG-01 is the default mode, and starts with all required settings', () => {
    const { config, secrets } = readConfig(production())
    expect(config).toMatchObject({ mode: 'production', http: { port: 8402, baseUrl: 'https://gateway.example' } })
    expect(secrets.databaseUrl).toBe(`sqlite:${folder}/gateway.db`)
  })

  it('T-13 EVID-18 refuses to start half-configured and names everything that is missing', () => {
    const missing = ['BASE_URL', 'STATEMENT_KEY', 'PUBLICATION_KEY', 'SHORT_URL_KEY']
    expect(() => readConfig({ DATA_DIR: folder })).toThrow(new RegExp(missing.join('.*'), 's'))
  })

  it('CFG-01 uses every core with PostgreSQL, and one process with SQLite', () => {
    const postgres = { ...production(), DATABASE_URL: 'postgres://localhost/svc' }
    expect(readConfig(postgres).config.processes).toBe(availableParallelism())
    expect(readConfig({ ...postgres, PROCESSES: '3' }).config.processes).toBe(3)
    expect(readConfig(production()).config.processes).toBe(1)
    expect(() => readConfig({ ...production(), PROCESSES: '2' })).toThrow(
      'PROCESSES is 2, but SQLite serves one process',
    )
  })

  it('T-13 ANCH-03 refuses one key for two purposes', () => {
    expect(() => readConfig({ ...production(), PUBLICATION_KEY: key(1) })).toThrow(
      'STATEMENT_KEY and PUBLICATION_KEY must be different',
    )
    expect(() => readConfig({ ...production(), SHORT_URL_KEY: key(2) })).toThrow(
      'PUBLICATION_KEY and SHORT_URL_KEY must be different',
    )
  })

  it('T-13 refuses development keys and the published test keys', () => {
    const { secrets } = readConfig({ SVC_MODE: 'development', DATA_DIR: folder })
    const development = { ...production(), STATEMENT_KEY: toHex(seedOf(secrets.statementKey)) }
    expect(() => readConfig(development)).toThrow('STATEMENT_KEY is a development key')
    const published = { ...production(), SHORT_URL_KEY: vectors.keys.short_url.seed_hex }
    expect(() => readConfig(published)).toThrow('SHORT_URL_KEY is a development key')
  })

  it('T-13 reads keys from files, and names a file that cannot be read or that others can read', () => {
    const file = join(folder, 'statement.key')
    writeFileSync(file, `${key(9)}\n`, { mode: 0o600 })
    const { STATEMENT_KEY, ...rest } = production()
    expect(toHex(seedOf(readConfig({ ...rest, STATEMENT_KEY_FILE: file }).secrets.statementKey))).toBe(key(9))
    expect(() => readConfig({ ...rest, STATEMENT_KEY_FILE: `${file}.none` })).toThrow(
      'STATEMENT_KEY_FILE cannot be read: ENOENT',
    )
    const [relative, absolute] = ['none/statement.key', resolve('none/statement.key')]
    expect(() => readConfig({ ...rest, STATEMENT_KEY_FILE: relative })).toThrow(absolute)
    for (const loose of [0o604, 0o640, 0o660]) {
      chmodSync(file, loose)
      expect(() => readConfig({ ...rest, STATEMENT_KEY_FILE: file })).toThrow(
        'STATEMENT_KEY_FILE can be read by others: chmod 600',
      )
    }
    chmodSync(file, 0o400)
    expect(() => readConfig({ ...production(), STATEMENT_KEY_FILE: file })).toThrow(
      'STATEMENT_KEY and STATEMENT_KEY_FILE are both set: remove one of them',
    )
    expect(() => readConfig({ ...rest, STATEMENT_KEY: 'x' })).toThrow('STATEMENT_KEY does not contain a key')
  })

  it.each(['SVC_CONTENT_ENVELOPE_V2', 'x'.repeat(26), `${'x'.repeat(24)}é`])(
    'EVID-17 refuses the domain tag %s',
    (tag) => {
      expect(() => readConfig({ ...production(), ENVELOPE_DOMAIN_TAG: tag })).toThrow('exactly 25 printable ASCII')
    },
  )

  it('T-13 refuses the wallets with published keys', () => {
    const primary = { PRIMARY_RPC_URLS: 'https://rpc.example', PRIMARY_TREASURY: TREASURY.address }
    expect(() => readConfig({ ...production(), ...primary })).toThrow('is a development wallet')
    expect(() => readConfig({ ...production(), EVM_TREASURY: DEV_TREASURY.address })).toThrow('is a development wallet')
  })

  it('CFG-01 refuses half a chain, bad prices, bad terms and half an identity provider in one error', () => {
    const bad = {
      ...production(),
      EVM_TREASURY: '',
      UNIT_PRICES_USD: 'gcs=free',
      TERMS: '{"gcs":{"ttl_days":-1}}',
      FALLBACK_USD: 'SOL=0',
      SPONSOR_OIDC: 'issuer=https://issuer.example',
      INTERNAL_SECRET: 'short',
    }
    const named = [
      'EVM_TREASURY',
      'FALLBACK_USD: SOL',
      'UNIT_PRICES_USD',
      'TERMS',
      'SPONSOR_OIDC must have',
      'INTERNAL_SECRET',
    ]
    for (const name of named) expect(() => readConfig(bad)).toThrow(name)
  })

  it('T-45 refuses a quorum that its nodes cannot reach, and one in which a host would count twice', () => {
    const quorum = (count: string, EVM_RPC_URLS: string) =>
      readConfig({ ...production(), RPC_QUORUM: count && `evm=${count}`, EVM_RPC_URLS }).config.payments.chains.get(EVM)
        ?.quorum
    expect(quorum('', 'https://a.example')).toBe(1)
    expect(quorum('2', 'https://a.example,https://b.example/key,https://c.example')).toBe(2)
    expect(quorum('1', 'https://a.example/key-1,https://a.example/key-2')).toBe(1)
    expect(() => quorum('2', 'https://a.example')).toThrow('RPC_QUORUM: evm is 2, but EVM_RPC_URLS has 1')
    expect(() => quorum('2', 'https://a.example/key-1,https://b.example,https://a.example/key-2')).toThrow(
      'RPC_QUORUM: evm requires a separate host for each node',
    )
    expect(() => quorum('0', 'https://a.example')).toThrow('RPC_QUORUM: evm must be an integer')
    expect(() => readConfig({ ...production(), RPC_QUORUM: 'primary=2' })).toThrow('PRIMARY_RPC_URLS has 0')
  })

  it('T-45 asks a majority of three or more nodes at separate hosts, unless a quorum is set', () => {
    const [a, b, c, d] = ['https://a.example', 'https://b.example/key', 'https://c.example', 'https://d.example']
    const quorums = (nodes: readonly unknown[], quorum = '') => {
      const [PRIMARY_TREASURY, urls] = ['FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe', nodes.join(',')]
      const chains = { PRIMARY_RPC_URLS: urls, PRIMARY_TREASURY, EVM_RPC_URLS: urls }
      const { config } = readConfig({
        ...production(),
        ...chains,
        RPC_QUORUM: quorum && `primary=${quorum},evm=${quorum}`,
      })
      return [PRIMARY, EVM].map((network) => config.payments.chains.get(network)?.quorum)
    }
    expect(quorums([a, b])).toEqual([1, 1])
    expect(quorums([a, b, c])).toEqual([2, 2])
    expect(quorums([a, b, c, d])).toEqual([3, 3])
    expect(quorums([a, b, c, d, 'https://e.example'])).toEqual([3, 3])
    expect(quorums([a, b, c], '1')).toEqual([1, 1])
    expect(quorums([a, b, c], '3')).toEqual([3, 3])
    // Two URLs of one host count once.
    expect(quorums([a, b, `${a}/key`])).toEqual([1, 1])
  })

  it('T-22 has no default fallback rate', () => {
    expect(readConfig(production()).config.payments.oracle.fallback).toEqual({})
    const set = readConfig({ ...production(), FALLBACK_USD: 'ETH=2500' }).config
    expect(set.payments.oracle.fallback).toEqual({ ETH: '2500' })
  })

  it('LIM-06 LOCK-08 has a configurable limit for each size that the interface leaves open', () => {
    const limitsOf = (variables: Variables) => {
      const { maxUploadBytes, partMaxBytes, fetch } = readConfig({ ...production(), ...variables }).config.storage
      return [maxUploadBytes, partMaxBytes, fetch.timeoutSeconds, fetch.maxBytes]
    }
    expect(limitsOf({})).toEqual([5 * 2 ** 30, 8 * 2 ** 20, 120, 2 ** 30])
    expect(readConfig(production()).config.payments.maxLockersPerOwner).toBe(50)
    const set = { MAX_UPLOAD_BYTES: '1', FILE_LIMITS: 'part_bytes=2,fetch_seconds=3,fetch_bytes=4' }
    expect(limitsOf(set)).toEqual([1, 2, 3, 4])
  })

  it('T-14 SPON-01 reads an identity provider with e-mail addresses and subjects, which are separate lists', () => {
    const provider = 'issuer=https://issuer.example,audience=gateway,jwks=https://issuer.example/jwks'
    const sponsors = (who: string) => readConfig({ ...production(), SPONSOR_OIDC: provider + who }).config.sponsors
    expect(sponsors(', email=a@x.example, email=b@x.example,subject=1 ,subject=a@y.example')).toMatchObject({
      issuer: 'https://issuer.example',
      emails: ['a@x.example', 'b@x.example'],
      subjects: ['1', 'a@y.example'],
    })
    expect(() => sponsors('')).toThrow('SPONSOR_OIDC must list the allowed callers')
    expect(() => sponsors(',email=sponsor')).toThrow('SPONSOR_OIDC: email must be an e-mail address')
    expect(() => readConfig({ ...production(), INTERNAL_OIDC: 'subject=1' })).toThrow('INTERNAL_OIDC must have issuer=')
  })

  it('ATT-17 ATT-14 refuses a weak oracle secret and an incomplete token issuer', () => {
    const half = 'issuer=https://issuer.example,audience=gateway'
    const jwks = (address: string) => ({ ...production(), ATTEST_JWT: `${half},jwks=${address}` })
    expect(() => readConfig({ ...production(), ATTEST_JWT: half })).toThrow('ATTEST_JWT must have issuer=')
    expect(() => readConfig(jwks('http://issuer.example/jwks'))).toThrow('ATTEST_JWT: jwks must be an https address')
    for (const secret of ['short', 'x'.repeat(23), `${'x'.repeat(30)} `]) {
      const weak = { ...production(), ORACLE_CALLBACK_SECRET: secret }
      expect(() => readConfig(weak)).toThrow('ORACLE_CALLBACK_SECRET must be at least 24 visible ASCII characters')
    }
    const { config } = readConfig(jwks('https://issuer.example/jwks'))
    expect(config.evidence.tokens).toEqual({
      issuer: 'https://issuer.example',
      audience: 'gateway',
      jwksUrl: 'https://issuer.example/jwks',
    })
  })

  it('ADD-12 stores a provider on the local disk only when a setting names it, and its terms state it', () => {
    const { config } = readConfig(production())
    expect(config.storage.drivers).toEqual({ gcs: 'local' })
    const { gcs, storj } = config.payments.terms
    expect([gcs.storage, storj.storage]).toEqual(['gateway', undefined])
    expect(() => readConfig({ ...production(), LOCAL_PROVIDERS: '' })).toThrow('LOCAL_PROVIDERS')
  })

  it('T-12 the config contains no secret', () => {
    const given = { DATABASE_URL: 'postgres://u:PASSWORD@h/d', ORACLE_CALLBACK_SECRET: 'SECRET'.repeat(5) }
    const text = JSON.stringify(readConfig({ ...production(), ...given }).config)
    for (const secret of ['PASSWORD', 'SECRETSECRET', key(1), key(2), key(3)]) expect(text).not.toContain(secret)
  })
})

it('T-13 development creates its keys once under the data folder', () => {
  const first = readConfig({ SVC_MODE: 'development', DATA_DIR: folder }).secrets
  expect(readConfig({ SVC_MODE: 'development', DATA_DIR: folder }).secrets).toEqual(first)
})

/** Names that the interface defines and that may not change. */
const INTERFACE_NAMES = [
  ...['ENABLED', 'PUSH', 'BATCH_SIZE', 'MIN_AGE_HOURS', 'FILTER', 'TIERS'].map((word) => `CRON_ATTEST_${word}`),
  'AUTO_REATTEST',
  'MAX_LOCKERS_PER_OWNER',
  'ENVELOPE_DOMAIN_TAG',
  'ATTEST_CHECK_MODE',
  'QUOTE_TTL_SECONDS',
  'LATE_CONFIRM_HOURS',
  'PAYMENT_TIME_SKEW_SECONDS',
  'ALLOW_PUBLIC_PROVISION',
  'MAX_UPLOAD_BYTES',
]

describe('settings', () => {
  const { namesRead } = readConfig({ SVC_MODE: 'development', DATA_DIR: mkdtempSync(join(tmpdir(), 'svc-settings-')) })

  it('CFG-01 are declared once and read, and .env.example has each with its default', () => {
    expect([...namesRead].toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
    const example = parseEnv(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'))
    const defaults = Object.entries(SETTINGS).map(([name, { default: value = '' }]) => [name, value])
    expect(example).toEqual(Object.fromEntries(defaults))
  })

  it('CFG-02 are at most 80 besides those of networks and providers, in four groups, each with a sentence of help', () => {
    const repeated = [...PROVIDERS.map((name) => name.toUpperCase()), ...NETWORKS.flatMap(settingsOf)]
    expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(repeated))
    expect(Object.keys(SETTINGS).length - repeated.length).toBeLessThanOrEqual(80)
    expect(new Set(Object.values(SETTINGS).map(({ group }) => group))).toEqual(new Set(GROUPS))
    for (const [name, { help }] of Object.entries(SETTINGS)) expect(help, name).toMatch(/^\S.{15,}[^.]$/)
  })

  it.each(INTERFACE_NAMES)('CFG-01 %s keeps the name that the interface defines', (name) => {
    expect(SETTINGS).toHaveProperty(name)
  })

  it('CFG-02 a removed name of 1.1.0 stops the start, and the error says what to write', () => {
    for (const [name, advice] of Object.entries(RENAMED_SETTINGS))
      expect(() => readConfig({ ...production(), [name]: 'x' }), name).toThrow(
        `${name} is no longer a setting: ${advice}`,
      )
    expect(() => readConfig({ ...production(), ENVELOPE: 'x', OPERATOR_ACTORS: '' })).not.toThrow()
  })

  it.each(['.env.example', 'apps/agent/.env.example', 'apps/witness/.env.example', 'packages/devnet/.env.example'])(
    'CFG-01 a shell can source %s, and gets the same values',
    (name) => {
      const file = fileURLToPath(new URL(`../../../${name}`, import.meta.url))
      const script = 'set -eua; . "$0"; exec "$1" -p "JSON.stringify(process.env)"'
      const sourced = JSON.parse(
        execFileSync('sh', ['-c', script, file, process.execPath], { encoding: 'utf8', env: {} }),
      )
      const written = parseEnv(readFileSync(file, 'utf8'))
      expect(sourced).toMatchObject(written)
    },
  )
})

describe('keys that send signed payments', () => {
  const chain = { PRIMARY_RPC_URLS: 'https://primary.example', PRIMARY_TREASURY: '11111111111111111111111111111112' }
  const withX402 = (variables: Variables) => readConfig({ ...production(), ...chain, ...variables })

  it('CFG-01 keys come from variables or files, with 0x or without', () => {
    const file = join(folder, 'facilitator.key')
    writeFileSync(file, `0x${key(5)}\n`, { mode: 0o600 })
    const { secrets } = withX402({ X402_SVM_FEE_PAYER_KEY: key(4), X402_EVM_FACILITATOR_KEY_FILE: file })
    expect(Buffer.from(secrets.svmFeePayerSeed!).toString('hex')).toBe(key(4))
    expect(Buffer.from(secrets.evmFacilitatorKey!).toString('hex')).toBe(key(5))
  })

  it.each([
    ['X402_SVM_FEE_PAYER_KEY', 'x', 'X402_SVM_FEE_PAYER_KEY does not contain a key'],
    ['X402_EVM_FACILITATOR_KEY_FILE', '/nowhere', 'X402_EVM_FACILITATOR_KEY_FILE cannot be read: ENOENT'],
    ['CHAIN_WAIT_SECONDS', 'x402=301', 'CHAIN_WAIT_SECONDS: x402 must be an integer from 0 to 300'],
  ])('CFG-01 %s=%s is refused', (name, value, problem) => {
    expect(() => withX402({ [name]: value })).toThrow(problem)
  })

  it('T-13 a key that signs transactions of payers signs nothing else', () => {
    expect(() => withX402({ X402_SVM_FEE_PAYER_KEY: key(2) })).toThrow(
      'PUBLICATION_KEY and X402_SVM_FEE_PAYER_KEY must be different keys',
    )
  })

  it.each([
    ['X402_SVM_FEE_PAYER_KEY', Buffer.from(FAUCET.privateKeyBytes).toString('hex')],
    ['X402_EVM_FACILITATOR_KEY', DEV_PAYERS.at(-1)!.privateKey],
  ])('T-13 production refuses the key of the local chains as %s', (name, value) => {
    expect(() => withX402({ [name]: value })).toThrow(`${name} is a development key`)
  })
})
