import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { FAUCET } from '@svc/devnet/primary-chain/dev-accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-x402-settings-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const key = (byte: number) => Buffer.alloc(32, byte).toString('hex')
const production = () => ({
  DATA_DIR: folder,
  BASE_URL: 'https://gateway.example',
  STATEMENT_KEY: key(1),
  PUBLICATION_KEY: key(2),
  SHORT_URL_KEY: key(3),
  PRIMARY_RPC_URLS: 'https://primary.example',
  PRIMARY_TREASURY: '11111111111111111111111111111112',
  EVM_RPC_URLS: 'https://evm.example',
  EVM_TREASURY: `0x${'ab'.repeat(20)}`,
  LOCAL_PROVIDERS: 'gcs',
})
const read = (variables: Record<string, string>) => readConfig({ ...production(), ...variables })

it('CFG-01 without keys the gateway sends no payments', () => {
  expect(read({}).secrets).toMatchObject({ svmFeePayerSeed: null, evmFacilitatorKey: null })
})

it('CFG-01 keys come from variables or files, with 0x or without', () => {
  const file = join(folder, 'facilitator.key')
  writeFileSync(file, `0x${key(5)}\n`, { mode: 0o600 })
  const { secrets } = read({ X402_SVM_FEE_PAYER_KEY: key(4), X402_EVM_FACILITATOR_KEY_FILE: file })
  expect(Buffer.from(secrets.svmFeePayerSeed!).toString('hex')).toBe(key(4))
  expect(Buffer.from(secrets.evmFacilitatorKey!).toString('hex')).toBe(key(5))
})

it.each([
  ['X402_SVM_FEE_PAYER_KEY', 'x', 'X402_SVM_FEE_PAYER_KEY does not hold a key'],
  ['X402_EVM_FACILITATOR_KEY_FILE', '/nowhere', 'X402_EVM_FACILITATOR_KEY_FILE cannot be read: ENOENT'],
  ['X402_WAIT_SECONDS', '301', 'X402_WAIT_SECONDS must be an integer from 0 to 300'],
])('CFG-01 %s=%s is refused', (name, value, problem) => {
  expect(() => read({ [name]: value })).toThrow(problem)
})

it('CFG-01 a key without a node of its chain is refused', () => {
  const chainless = { EVM_RPC_URLS: '', EVM_TREASURY: '', X402_EVM_FACILITATOR_KEY: key(5) }
  expect(() => read(chainless)).toThrow('X402_EVM_FACILITATOR_KEY needs EVM_RPC_URLS')
})

it('T-13 a key that signs what strangers wrote signs nothing else', () => {
  expect(() => read({ X402_SVM_FEE_PAYER_KEY: key(2) })).toThrow(
    'PUBLICATION_KEY and X402_SVM_FEE_PAYER_KEY must be different keys',
  )
})

it.each([
  ['X402_SVM_FEE_PAYER_KEY', Buffer.from(FAUCET.privateKeyBytes).toString('hex')],
  ['X402_EVM_FACILITATOR_KEY', DEV_PAYERS.at(-1)!.privateKey],
])('T-13 production refuses the key of the local chains as %s', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(`${name} is a development key`)
})

it('T-12 the config holds no x402 key', () => {
  const { config } = read({ X402_SVM_FEE_PAYER_KEY: key(4), X402_EVM_FACILITATOR_KEY: key(5) })
  for (const secret of [key(4), key(5)]) expect(JSON.stringify(config)).not.toContain(secret)
})
