import { ROLES } from '@svc/api/networks'
import { DEV_MINTER, DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { SettingsReader } from '@svc/service/program/config'
import { expect, it } from 'vitest'
import { readEvmRegistrySettings } from '../../../src/publication/evm-registry/settings.ts'
import { SETTINGS } from '../../../src/settings.ts'

const CHAIN = {
  treasury: `0x${'cd'.repeat(20)}`,
  quorum: 1,
  finality: { confirmations: 1, finality: 'finalized' },
} as const
const EVM_REGISTRY_CONTRACT = `0x${'ab'.repeat(20)}`
const EVM_REGISTRY_KEY = '05'.repeat(32)

function read(variables: Record<string, string>, { evm = true, isProduction = true } = {}) {
  const settings = new SettingsReader(variables, SETTINGS)
  const answer = readEvmRegistrySettings(
    settings,
    { chains: new Map(evm ? [[ROLES.registry, CHAIN]] : []) },
    isProduction,
  )
  settings.done()
  return answer
}

it('CFG-01 without settings there is no registry', () => {
  expect(read({})).toEqual([null, { evmRegistryKey: null }])
})

it.each(['', '0x', '0X'])('CFG-01 the key may start with %j', (prefix) => {
  const variables = { EVM_REGISTRY_CONTRACT, EVM_REGISTRY_KEY: `${prefix}${EVM_REGISTRY_KEY}` }
  expect(read(variables)).toEqual([{ contract: EVM_REGISTRY_CONTRACT }, { evmRegistryKey: new Uint8Array(32).fill(5) }])
})

it.each([
  ['EVM_REGISTRY_KEY', '00'.repeat(32), 'EVM_REGISTRY_KEY does not contain a key'],
  ['EVM_REGISTRY_KEY', 'ff'.repeat(32), 'EVM_REGISTRY_KEY does not contain a key'],
  ['EVM_REGISTRY_CONTRACT', '0x12', 'EVM_REGISTRY_CONTRACT is not an address: "0x12"'],
])('CFG-01 %s=%s is refused', (name, value, problem) => {
  expect(() => read({ [name]: value })).toThrow(problem)
})

it('CFG-01 key and contract must be set together', () => {
  const problem = 'EVM_REGISTRY_CONTRACT and EVM_REGISTRY_KEY belong together'
  expect(() => read({ EVM_REGISTRY_CONTRACT })).toThrow(problem)
  expect(() => read({ EVM_REGISTRY_KEY })).toThrow(problem)
})

it('CFG-01 a registry without a node of its chain is refused', () => {
  expect(() => read({ EVM_REGISTRY_CONTRACT, EVM_REGISTRY_KEY }, { evm: false })).toThrow('requires EVM_RPC_URLS')
})

it('T-13 production refuses every key of the local chain, and development accepts it', () => {
  for (const { privateKey } of [...DEV_PAYERS, DEV_MINTER, DEV_TREASURY]) {
    const variables = { EVM_REGISTRY_CONTRACT, EVM_REGISTRY_KEY: privateKey }
    expect(() => read(variables)).toThrow('EVM_REGISTRY_KEY is a development key')
    expect(read(variables, { isProduction: false })[1].evmRegistryKey).toHaveLength(32)
  }
})

it('T-12 the config does not contain the key', () => {
  const [config] = read({ EVM_REGISTRY_CONTRACT, EVM_REGISTRY_KEY })
  expect(JSON.stringify(config)).not.toContain(EVM_REGISTRY_KEY)
})
