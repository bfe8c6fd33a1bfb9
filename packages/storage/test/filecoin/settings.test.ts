import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calibration, mainnet } from '@filoz/synapse-core/chains'
import { SettingsReader } from '@svc/http-service/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFilecoinSettings } from '../../src/filecoin/settings.ts'
import { settingsTester } from '../settings-tester.ts'

const KEY = `0x${'5c'.repeat(32)}`
const PAYEE = `0x${'0a'.repeat(20)}`
const NEEDED = { FILECOIN_PDP_URL: 'https://pdp.example/', FILECOIN_KEY: KEY, FILECOIN_PAYEE: PAYEE }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-filecoin-settings-'))
})
afterAll(() => rm(folder, { recursive: true }))

const { read, problemsOf } = settingsTester(readFilecoinSettings)

describe('readFilecoinSettings', () => {
  it('returns null when nothing is set, or everything is as in the example', () => {
    const settings = new SettingsReader({})
    expect(readFilecoinSettings(settings)).toBeNull()
    expect(settings.asked.size).toBe(9)
    expect(read(Object.fromEntries(settings.asked))).toBeNull()
  })

  it.each([mainnet, calibration])('knows the contract and a node of $name', (chain) => {
    expect(read({ ...NEEDED, FILECOIN_CHAIN_ID: `${chain.id}` })).toEqual({
      pdpUrl: 'https://pdp.example',
      key: KEY,
      chainId: chain.id,
      rpcUrl: chain.rpcUrls.default.http[0],
      recordKeeper: chain.contracts.fwss.address,
      dataSet: null,
      payee: PAYEE,
      retrievalUrl: null,
    })
  })

  it('reads a data set and a retrieval address', () => {
    const given = { FILECOIN_DATA_SET: '12', FILECOIN_RETRIEVAL_URL: `https://${PAYEE}.filbeam.io/` }
    expect(read({ ...NEEDED, ...given, FILECOIN_PAYEE: '', FILECOIN_KEY: KEY.slice(2) })).toMatchObject({
      dataSet: 12n,
      payee: null,
      retrievalUrl: `https://${PAYEE}.filbeam.io`,
      key: KEY,
    })
  })

  it('reads the key from a file', async () => {
    const file = join(folder, 'key')
    await writeFile(file, `${KEY}\n`, { mode: 0o600 })
    const variables = { ...NEEDED, FILECOIN_KEY: undefined, FILECOIN_KEY_FILE: file }
    expect(read(variables)?.key).toBe(KEY)
    expect(problemsOf({ ...variables, FILECOIN_KEY: KEY })).toMatch(/both set: leave one of them out/)
    expect(problemsOf({ ...variables, FILECOIN_KEY_FILE: `${file}s` })).toMatch(/cannot be read: ENOENT/)
    await writeFile(file, '\n', { mode: 0o600 })
    expect(problemsOf(variables)).toMatch(/FILECOIN_KEY must be/)
  })

  it('reports everything that is missing at once', () => {
    const problems = problemsOf({ FILECOIN_CHAIN_ID: '31415926' })
    for (const name of ['PDP_URL', 'KEY', 'RPC_URL', 'RECORD_KEEPER', 'PAYEE']) {
      expect(problems).toContain(`FILECOIN_${name} must be`)
    }
  })

  it.each([
    ['FILECOIN_PDP_URL', 'http://pdp.example'],
    ['FILECOIN_PDP_URL', 'http://localhost.example'],
    ['FILECOIN_PDP_URL', 'https://pdp.example/?key=1'],
    ['FILECOIN_PDP_URL', 'ftp://pdp.example'],
    ['FILECOIN_PDP_URL', 'pdp.example'],
    ['FILECOIN_RPC_URL', 'http://node.example'],
    ['FILECOIN_RETRIEVAL_URL', 'http://cache.example'],
    ['FILECOIN_KEY', `${KEY}00`],
    ['FILECOIN_KEY', 'secret'],
    ['FILECOIN_CHAIN_ID', '1'],
    ['FILECOIN_RECORD_KEEPER', '0x12'],
    ['FILECOIN_DATA_SET', '0'],
    ['FILECOIN_DATA_SET', '-1'],
    ['FILECOIN_DATA_SET', '0x1'],
    ['FILECOIN_PAYEE', 'f01234'],
  ])('rejects %s=%s without showing the key', (name, value) => {
    const problems = problemsOf({ ...NEEDED, [name]: value })
    expect(problems).toContain(`${name} must be`)
    expect(problems).not.toContain(KEY)
    if (name === 'FILECOIN_KEY') expect(problems).not.toContain(value)
  })
})
