// @module-tag nightly

// `npm run try-real` on the local chains and stores, in place of the services for which it is made.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSlow, PROVIDERS } from '@svc/api/providers'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { PUBLICATION, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { LOCAL_STORES } from '@svc/devnet/providers/local-stores'
import { setUpRegistries } from '@svc/devnet/services/local-registries'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'

const program = new URL('../scripts/try-real.ts', import.meta.url)
const [PASSED, FAILED, WRONG_USE, NOT_RUN] = [0, 1, 2, 3]

const at = forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-try-real-'))
  const chains = await startLocalChains({ landing: 'at once' })
  const own = { SVC_MODE: 'development', DATA_DIR: folder }
  return {
    chains,
    folder,
    variables: { ...chains.variables, ...own, ...(await setUpRegistries(chains, own, folder)) },
    async close() {
      await chains.stop()
      await rm(folder, { recursive: true })
    },
  }
})

async function tryReal(args: string[], changed: Record<string, string> = {}) {
  const { code, stdout, stderr } = await startProcess(program, { args, env: { ...at.variables, ...changed } }).ended
  return { code, output: stdout + stderr }
}

async function lamportsOf(address: string): Promise<number> {
  const { result } = await call(at.chains.primary.url, 'getBalance', [address])
  return (result as { value: number }).value
}

async function weiOf(address: string): Promise<bigint> {
  const { result } = await call(at.chains.evm.url, 'eth_getBalance', [address, 'latest'])
  return BigInt(result as string)
}

describe('chains and prices', () => {
  it('reads the prices, and fails on one that is old or far from the configured rate', async () => {
    expect(await tryReal(['prices'])).toMatchObject({
      code: PASSED,
      output: expect.stringMatching(/✓ SOL costs 150.25/),
    })
    const far = await tryReal(['prices'], { FALLBACK_USD: 'SOL=10' })
    expect(far).toMatchObject({ code: FAILED, output: expect.stringContaining('SOL: 150.25') })
    at.chains.rates.setPrice('MON', '0.03', { ageSeconds: 500 })
    expect(await tryReal(['prices'])).toMatchObject({
      code: FAILED,
      output: expect.stringContaining('MON: the price is'),
    })
  })

  it('spends nothing without --spend', async () => {
    const before = [await lamportsOf(PUBLICATION.address), await weiOf(DEV_TREASURY.address)]
    for (const name of ['primary', 'sas', 'evm'])
      expect(await tryReal([name])).toMatchObject({ code: NOT_RUN, output: expect.stringMatching(/costs: at most/) })
    expect([await lamportsOf(PUBLICATION.address), await weiOf(DEV_TREASURY.address)]).toEqual(before)
    expect(await tryReal(['primary', '--yes'])).toMatchObject({ code: WRONG_USE })
  })

  it('pays a lamport and publishes a statement, for two fees', async () => {
    const [payer, treasury] = [await lamportsOf(PUBLICATION.address), await lamportsOf(TREASURY.address)]
    const { code, output } = await tryReal(['primary', '--spend'])
    expect(output).toMatch(/the verifier finds it/)
    expect(code).toBe(PASSED)
    expect(await lamportsOf(TREASURY.address)).toBe(treasury + 1)
    expect(await lamportsOf(PUBLICATION.address)).toBe(payer - 1 - 2 * 5000)
  })

  it('sets up the registry, writes an attestation and closes it', async () => {
    const ours = { ANCHORS: 'memo,credential=tried' }
    const first = await tryReal(['sas', '--spend'], ours)
    expect(first).toMatchObject({ code: PASSED, output: expect.stringMatching(/is closed and returned its rent/) })
    const before = await lamportsOf(PUBLICATION.address)
    expect(await tryReal(['sas', '--spend'], ours)).toMatchObject({ code: PASSED })
    expect(await lamportsOf(PUBLICATION.address)).toBe(before - 1 - 3 * 5000)
  })

  it('pays a wei, and writes an entry to the registry contract', async () => {
    const before = await weiOf(DEV_TREASURY.address)
    const { code, output } = await tryReal(['evm', '--spend'])
    expect(output).toMatch(/an entry is in the registry/)
    expect(code).toBe(PASSED)
    expect(await weiOf(DEV_TREASURY.address)).toBe(before + 1n)
  })

  it('refuses a node of another chain, and development keys in production', async () => {
    const foreign = await tryReal(['primary', '--spend'], { PRIMARY_RPC_URLS: at.chains.evm.url })
    expect(foreign).toMatchObject({ code: FAILED, output: expect.stringContaining('is on another chain') })
    for (const name of ['primary', 'evm']) {
      const live = await tryReal([name, '--spend'], { SVC_MODE: 'production' })
      expect(live).toMatchObject({ code: FAILED, output: expect.stringMatching(/development (wallet|key)/) })
    }
  })
})

describe('storage', () => {
  it('writes nothing without --spend, and needs an account', async () => {
    const url = 's3+http://key:secret@127.0.0.1:1/bucket/'
    expect(await tryReal(['storj'], { STORJ: url })).toMatchObject({ code: NOT_RUN })
    const { code, output } = await tryReal(['gcs', '--spend'])
    expect([code, output]).toEqual([FAILED, expect.stringContaining('GCS is not set')])
  })

  it.each(PROVIDERS)(
    'runs the suite of all drivers on %s, and leaves nothing there',
    {
      tags: ['nightly'],
    },
    async (name) => {
      const store = await LOCAL_STORES[name](join(at.folder, name))
      const { code, output } = await tryReal([name, '--spend'], { [name.toUpperCase()]: store.url })
      await store.stop()
      expect(output).toMatch(isSlow(name) ? /objects, which stay/ : /and removed them all/)
      expect([name, code]).toEqual([name, PASSED])
    },
  )
})
