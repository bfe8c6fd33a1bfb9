import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { EVM } from '@svc/api/networks'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { SETTINGS } from '../src/settings.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-agent-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const key = (byte: number) => toHex(new Uint8Array(32).fill(byte))
const publicKey = (byte: number) => toHex(ed25519Signer(new Uint8Array(32).fill(byte)).publicKey)
const production = () => ({
  DATA_DIR: folder,
  BASE_URL: 'https://agent.example',
  GATEWAY_URL: 'https://gateway.example/',
  AGENT_KEY: key(1),
  DELEGATION_KEY: key(2),
  EVM_RPC_URLS: 'https://rpc.example',
  EVM_TREASURY: `0x${'ab'.repeat(20)}`,
})

describe('the production configuration of an agent service', () => {
  it('CFG-01 AGENT-01 production is the default mode, and a complete configuration is accepted', () => {
    const { config, secrets } = readConfig(production())
    expect(config).toMatchObject({
      mode: 'production',
      http: { port: 8403, baseUrl: 'https://agent.example' },
      gateway: { url: 'https://gateway.example', pinnedKeys: [] },
      payments: { subscriptionUsd: '5' },
    })
    expect(secrets.databaseUrl).toBe(`sqlite:${folder}/agent.db`)
  })

  it('T-13 an incomplete configuration is rejected with a list of everything that is missing', () => {
    const missing = ['EVM_TREASURY', 'BASE_URL', 'GATEWAY_URL', 'AGENT_KEY', 'DELEGATION_KEY']
    expect(() => readConfig({ DATA_DIR: folder })).toThrow(new RegExp(missing.join('.*'), 's'))
  })

  it('T-13 the configuration rejects one key for two purposes', () => {
    expect(() => readConfig({ ...production(), DELEGATION_KEY: key(1) })).toThrow(
      'AGENT_KEY and DELEGATION_KEY must be different',
    )
  })

  it('T-45 requires a majority of three or more nodes unless a quorum is set', () => {
    const nodes = { EVM_RPC_URLS: 'https://a.example,https://b.example,https://c.example' }
    expect(readConfig({ ...production(), ...nodes }).config.payments.chains.get(EVM)?.quorum).toBe(2)
    expect(readConfig({ ...production(), ...nodes, RPC_QUORUM: 'evm=1' }).config.payments.chains.get(EVM)?.quorum).toBe(
      1,
    )
  })

  it('T-13 rejects development keys and development wallets', () => {
    const { secrets } = readConfig({ SVC_MODE: 'development', DATA_DIR: folder })
    for (const [variable, seed] of [
      ['AGENT_KEY', secrets.signingSeed],
      ['DELEGATION_KEY', secrets.delegationSeed],
    ] as const)
      expect(() => readConfig({ ...production(), [variable]: toHex(seed) })).toThrow(`${variable} is a development key`)
    expect(() => readConfig({ ...production(), EVM_TREASURY: DEV_TREASURY.address })).toThrow('is a development wallet')
  })

  it('CFG-01 accepts pinned keys of the gateway, and rejects malformed ones', () => {
    const pinned = [publicKey(1), publicKey(2).toUpperCase()]
    expect(readConfig({ ...production(), GATEWAY_KEYS: pinned.join(',') }).config.gateway.pinnedKeys).toEqual(pinned)
    for (const bad of ['x', publicKey(1).slice(2), `${publicKey(1)} ${publicKey(2)}`, '00'.repeat(32)])
      expect(() => readConfig({ ...production(), GATEWAY_KEYS: bad }), bad).toThrow('GATEWAY_KEYS must be public keys')
  })

  it('CFG-01 reports all bad prices, limits and addresses together', () => {
    const bad = {
      ...production(),
      EVM_TREASURY: '',
      SUBSCRIPTION_USD: 'free',
      GATEWAY_URL: 'https://user:password@gateway.example',
      MAX_DELEGATIONS: '0',
      WATCH_MAX_BYTES: '-1',
      RATE_LIMITS: 'identity=many/min',
      RUN_JOBS: 'perhaps',
    }
    const named = Object.keys(bad).slice(-7)
    for (const name of named) expect(() => readConfig(bad)).toThrow(name)
    expect(() => readConfig({ ...production(), SUBSCRIPTION_USD: '0' })).toThrow('SUBSCRIPTION_USD must be a positive')
    for (const url of ['gateway.example', 'ftp://gateway.example', 'https://gateway.example/?key=1'])
      expect(() => readConfig({ ...production(), GATEWAY_URL: url }), url).toThrow('GATEWAY_URL must be an http')
  })

  it('T-12 the config object contains no secret', () => {
    const given = { DATABASE_URL: 'postgres://u:PASSWORD@h/d', EVM_RPC_URLS: 'https://rpc.example/ACCESSKEY' }
    const text = JSON.stringify(readConfig({ ...production(), ...given }).config)
    for (const secret of ['PASSWORD', 'ACCESSKEY', key(1), key(2)]) expect(text).not.toContain(secret)
  })
})

describe('the development configuration of an agent service', () => {
  it('T-13 the service creates its keys once in its data folder', () => {
    const first = readConfig({ SVC_MODE: 'development', DATA_DIR: folder }).secrets
    expect(readConfig({ SVC_MODE: 'development', DATA_DIR: folder }).secrets).toEqual(first)
    expect(first.signingSeed).not.toEqual(first.delegationSeed)
  })
})

it('CFG-01 every setting is read and described by one line of the example', () => {
  const { namesRead } = readConfig({ SVC_MODE: 'development', DATA_DIR: folder })
  expect([...namesRead].toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
  const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8'))
  expect(example).toEqual(mapValues(SETTINGS))
})

function mapValues(settings: typeof SETTINGS) {
  return Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.default ?? '']))
}
