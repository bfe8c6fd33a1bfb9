import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/agent/config'
import { afterAll, describe, expect, it } from 'vitest'
import { DEV_AGENT_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { startLocalChains } from '../../src/local-chains.ts'
import { AGENT_TREASURY, TOKEN_ASSETS, TREASURY, tokenAccountOf } from '../../src/primary-chain/dev-accounts.ts'
import { call } from '../../src/primary-chain/dev-client.ts'
import { startPrimaryChain } from '../../src/primary-chain/start.ts'

describe('the treasuries of a development agent service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chains-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('AGENT-01 T-01 differ from those of the gateway', async () => {
    const { variables, agentVariables, stop } = await startLocalChains()
    await stop()
    for (const treasury of ['PRIMARY_TREASURY', 'EVM_TREASURY']) {
      expect(agentVariables[treasury]).toBeTruthy()
      expect(agentVariables[treasury]).not.toBe(variables[treasury])
    }
  })

  it('AGENT-01 can be paid on a chain whose file is older than they are', { tags: ['nightly'] }, async () => {
    const stateFile = join(folder, 'chain.jsonl')
    const accounts = await Promise.all(TOKEN_ASSETS.map((asset) => tokenAccountOf(AGENT_TREASURY.address, asset)))
    const first = await startPrimaryChain({ port: 0, stateFile })
    await call(first.url, 'dev_faucet', [TREASURY.address, 'USDC', 1])
    await first.stop()
    const kept = readFileSync(stateFile, 'utf8')
    for (const address of [AGENT_TREASURY.address, ...accounts]) expect(kept).not.toContain(address)
    const second = await startPrimaryChain({ port: 0, stateFile })
    for (const account of accounts) {
      const { result } = await call(second.url, 'getTokenAccountBalance', [account])
      expect(result).toMatchObject({ value: { amount: '0' } })
    }
    await second.stop()
  })

  it.each([
    { PRIMARY_RPC_URLS: 'https://rpc.example', PRIMARY_TREASURY: AGENT_TREASURY.address },
    { EVM_RPC_URLS: 'https://rpc.example', EVM_TREASURY: DEV_AGENT_TREASURY.address },
    { EVM_RPC_URLS: 'https://rpc.example', EVM_TREASURY: DEV_AGENT_TREASURY.address.toLowerCase() },
  ])('T-13 are refused in production: %o', (sales) => {
    const production = {
      SVC_MODE: 'production',
      DATA_DIR: folder,
      BASE_URL: 'https://agent.example',
      GATEWAY_URL: 'https://gateway.example',
      AGENT_KEY: '01'.repeat(32),
      DELEGATION_KEY: '02'.repeat(32),
    }
    expect(() => readConfig({ ...production, ...sales })).toThrow(
      /^The configuration is not usable:\n.*development wallet[^\n]*$/,
    )
  })
})
